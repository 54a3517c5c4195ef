/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym and dlvsym, exported under both versions that programs link against. Each first asks the C side; where that has no
 * answer, the call goes on by a jump, so that the real one still finds the program's return address on the stack: glibc
 * resolves RTLD_NEXT and RTLD_DEFAULT by it.
 *
 * struct dlsym_answer { uintptr_t answered; void *value; } comes back in rax:rdx.
 */
    .text

    .globl  ptds_dlsym_old, ptds_dlsym_new
    .type   ptds_dlsym_old, @function
    .type   ptds_dlsym_new, @function
ptds_dlsym_old:
ptds_dlsym_new:
    .cfi_startproc
    endbr64
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq    24(%rsp), %rdx          /* the caller's return address */
    call    ptds_dlsym_decide
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    testq   %rax, %rax
    jne     1f
    jmp     *ptds_real_dlsym(%rip)
1:  movq    %rdx, %rax
    ret
    .cfi_endproc
    .size   ptds_dlsym_old, .-ptds_dlsym_old
    .size   ptds_dlsym_new, .-ptds_dlsym_new

    .globl  ptds_dlvsym_old, ptds_dlvsym_new
    .type   ptds_dlvsym_old, @function
    .type   ptds_dlvsym_new, @function
ptds_dlvsym_old:
ptds_dlvsym_new:
    .cfi_startproc
    endbr64
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    pushq   %rdx
    .cfi_adjust_cfa_offset 8
    movq    24(%rsp), %rcx
    call    ptds_dlvsym_decide
    testq   %rax, %rax
    movq    %rdx, %r11
    popq    %rdx
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    jne     1f
    jmp     *ptds_real_dlvsym(%rip)
1:  movq    %r11, %rax
    ret
    .cfi_endproc
    .size   ptds_dlvsym_old, .-ptds_dlvsym_old
    .size   ptds_dlvsym_new, .-ptds_dlvsym_new

    .symver ptds_dlsym_old, dlsym@GLIBC_2.2.5, remove
    .symver ptds_dlsym_new, dlsym@@GLIBC_2.34, remove
    .symver ptds_dlvsym_old, dlvsym@GLIBC_2.2.5, remove
    .symver ptds_dlvsym_new, dlvsym@@GLIBC_2.34, remove

    .section .note.GNU-stack, "", @progbits
