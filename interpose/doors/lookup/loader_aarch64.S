/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_x86_64.S for 64-bit Arm: dlsym, dlvsym and dlopen, which first ask the C side; where that has no answer, the call goes
 * on by a jump with the program's return address in x30 and its arguments in place.
 *
 * struct answer { uintptr_t answered; void *value; } comes back in x0 and x1. The hint is `bti c`, which older processors
 * take for nothing: glibc may call these through a pointer. x30 is never signed here: it is only kept in this frame.
 */
#if defined(__aarch64__)
    .text

/* `caller`: the register of the argument that follows the function's own. */
    .macro  door name, caller
    .globl  ptds_\name\()_old, ptds_\name\()_new
    .type   ptds_\name\()_old, %function
    .type   ptds_\name\()_new, %function
ptds_\name\()_old:
ptds_\name\()_new:
    .cfi_startproc
    hint    #34
    stp     x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    mov     x29, sp
    stp     x0, x1, [sp, #16]
    str     x2, [sp, #32]
    mov     \caller, x30
    bl      ptds_\name\()_decide
    mov     x9, x0
    mov     x10, x1
    ldp     x0, x1, [sp, #16]
    ldr     x2, [sp, #32]
    ldp     x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    cbnz    x9, 1f
    adrp    x16, ptds_real_\name
    ldr     x16, [x16, :lo12:ptds_real_\name]
    br      x16
1:  mov     x0, x10
    ret
    .cfi_endproc
    .size   ptds_\name\()_old, .-ptds_\name\()_old
    .size   ptds_\name\()_new, .-ptds_\name\()_new
    .endm

    door    dlsym, x2
    door    dlopen, x2
    door    dlvsym, x3

    .symver ptds_dlsym_old, dlsym@GLIBC_2.17, remove
    .symver ptds_dlsym_new, dlsym@@GLIBC_2.34, remove
    .symver ptds_dlvsym_old, dlvsym@GLIBC_2.17, remove
    .symver ptds_dlvsym_new, dlvsym@@GLIBC_2.34, remove
    .symver ptds_dlopen_old, dlopen@GLIBC_2.17, remove
    .symver ptds_dlopen_new, dlopen@@GLIBC_2.34, remove
#endif

    .section .note.GNU-stack, "", %progbits
