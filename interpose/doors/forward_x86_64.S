/* SPDX-License-Identifier: Apache-2.0
 *
 * Forwarders: what a program gets for a function of the driver that the table does not know. Each says which one it is and
 * goes on to the C side (forward.c), with whatever arguments there are put aside; that calls the real function through
 * ptds_forward_call, with the same arguments in the same registers and a copy of those on the stack. Must not take anything
 * for granted about the arguments, and must give back all registers in which a result can be.
 *
 * A frame: rdi rsi rdx rcx r8 r9 rax r10, xmm0 to xmm7, then the results in rax and rdx; those in xmm0 and xmm1 go where the
 * arguments were. rax has the number of vector registers that a variadic function is given, r10 a nested function's chain.
 */
#if defined(__x86_64__)
#include "interpose/doors/forward.h"
    .text

    .hidden ptds_forward_first
    .globl  ptds_forward_first
    .type   ptds_forward_first, @function
    .p2align 4
ptds_forward_first:
    .set    number, 0
    .rept   FORWARDERS
    .p2align 4
    endbr64
    movl    $number, %r11d
    jmp     forward
    .set    number, number + 1
    .endr
    .size   ptds_forward_first, .-ptds_forward_first

    .type   forward, @function
    .p2align 4
forward:
    .cfi_startproc
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq    $208, %rsp
    movq    %rdi, 0(%rsp)
    movq    %rsi, 8(%rsp)
    movq    %rdx, 16(%rsp)
    movq    %rcx, 24(%rsp)
    movq    %r8, 32(%rsp)
    movq    %r9, 40(%rsp)
    movq    %rax, 48(%rsp)
    movq    %r10, 56(%rsp)
    movaps  %xmm0, 64(%rsp)
    movaps  %xmm1, 80(%rsp)
    movaps  %xmm2, 96(%rsp)
    movaps  %xmm3, 112(%rsp)
    movaps  %xmm4, 128(%rsp)
    movaps  %xmm5, 144(%rsp)
    movaps  %xmm6, 160(%rsp)
    movaps  %xmm7, 176(%rsp)
    movl    %r11d, %edi
    movq    %rsp, %rsi
    leaq    16(%rbp), %rdx
    movq    8(%rbp), %rcx
    call    ptds_forward_run
    movq    192(%rsp), %rax
    movq    200(%rsp), %rdx
    movaps  64(%rsp), %xmm0
    movaps  80(%rsp), %xmm1
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size   forward, .-forward

/* void ptds_forward_call(void *function, struct forward_frame *frame, const uint64_t *stacked, size_t count) */
    .hidden ptds_forward_call
    .globl  ptds_forward_call
    .type   ptds_forward_call, @function
    .p2align 4
ptds_forward_call:
    .cfi_startproc
    endbr64
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq   %rbx
    .cfi_offset %rbx, -24
    movq    %rsi, %rbx
    movq    %rdi, %r11
    leaq    1(%rcx), %rax
    orq     $1, %rax            /* with rbx an even number of words: the stack is aligned at the call */
    shlq    $3, %rax
    subq    %rax, %rsp
    movq    %rsp, %rdi
    movq    %rdx, %rsi
    rep     movsq
    movaps  64(%rbx), %xmm0
    movaps  80(%rbx), %xmm1
    movaps  96(%rbx), %xmm2
    movaps  112(%rbx), %xmm3
    movaps  128(%rbx), %xmm4
    movaps  144(%rbx), %xmm5
    movaps  160(%rbx), %xmm6
    movaps  176(%rbx), %xmm7
    movq    0(%rbx), %rdi
    movq    8(%rbx), %rsi
    movq    16(%rbx), %rdx
    movq    24(%rbx), %rcx
    movq    32(%rbx), %r8
    movq    40(%rbx), %r9
    movq    48(%rbx), %rax
    movq    56(%rbx), %r10
    call    *%r11
    movq    %rax, 192(%rbx)
    movq    %rdx, 200(%rbx)
    movaps  %xmm0, 64(%rbx)
    movaps  %xmm1, 80(%rbx)
    movq    -8(%rbp), %rbx
    .cfi_restore %rbx
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size   ptds_forward_call, .-ptds_forward_call
#endif

    .section .note.GNU-stack, "", @progbits
