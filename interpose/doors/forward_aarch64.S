/* SPDX-License-Identifier: Apache-2.0
 *
 * forward_x86_64.S for 64-bit Arm. A frame: x0 to x8, a word unused, q0 to q7, then the results in x0 and x1; those in q0 to
 * q3 go where the arguments were. x8 says where a large result belongs. Nobody keeps the rest of wider vector registers.
 */
#if defined(__aarch64__)
#include "interpose/doors/forward.h"
    .text

    .hidden ptds_forward_first
    .globl  ptds_forward_first
    .type   ptds_forward_first, %function
    .p2align 4
ptds_forward_first:
    .set    number, 0
    .rept   FORWARDERS
    .p2align 4
    hint    #34
    mov     w16, #number
    b       forward
    .set    number, number + 1
    .endr
    .size   ptds_forward_first, .-ptds_forward_first

    .type   forward, %function
    .p2align 4
forward:
    .cfi_startproc
    stp     x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov     x29, sp
    .cfi_def_cfa_register x29
    sub     sp, sp, #224
    stp     x0, x1, [sp, #0]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    str     x8, [sp, #64]
    stp     q0, q1, [sp, #80]
    stp     q2, q3, [sp, #112]
    stp     q4, q5, [sp, #144]
    stp     q6, q7, [sp, #176]
    mov     w0, w16
    mov     x1, sp
    add     x2, x29, #16
    mov     x3, x30
    bl      ptds_forward_run
    ldp     x0, x1, [sp, #208]
    ldp     q0, q1, [sp, #80]
    ldp     q2, q3, [sp, #112]
    mov     sp, x29
    ldp     x29, x30, [sp], #16
    .cfi_def_cfa sp, 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size   forward, .-forward

/* void ptds_forward_call(void *function, struct forward_frame *frame, const uint64_t *stacked, size_t count) */
    .hidden ptds_forward_call
    .globl  ptds_forward_call
    .type   ptds_forward_call, %function
    .p2align 4
ptds_forward_call:
    .cfi_startproc
    hint    #34
    stp     x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov     x29, sp
    .cfi_def_cfa_register x29
    str     x19, [sp, #16]
    .cfi_offset x19, -16
    mov     x19, x1
    mov     x16, x0
    add     x9, x3, #1
    and     x9, x9, #-2
    sub     sp, sp, x9, lsl #3
    mov     x10, sp
1:  cbz     x3, 2f
    ldr     x11, [x2], #8
    str     x11, [x10], #8
    sub     x3, x3, #1
    b       1b
2:  ldp     q0, q1, [x19, #80]
    ldp     q2, q3, [x19, #112]
    ldp     q4, q5, [x19, #144]
    ldp     q6, q7, [x19, #176]
    ldp     x0, x1, [x19, #0]
    ldp     x2, x3, [x19, #16]
    ldp     x4, x5, [x19, #32]
    ldp     x6, x7, [x19, #48]
    ldr     x8, [x19, #64]
    blr     x16
    stp     x0, x1, [x19, #208]
    stp     q0, q1, [x19, #80]
    stp     q2, q3, [x19, #112]
    mov     sp, x29
    ldr     x19, [sp, #16]
    .cfi_restore x19
    ldp     x29, x30, [sp], #32
    .cfi_def_cfa sp, 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size   ptds_forward_call, .-ptds_forward_call
#endif

    .section .note.GNU-stack, "", %progbits
