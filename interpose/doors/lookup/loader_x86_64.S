/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym, dlvsym and dlopen, exported under both versions that programs link against. Each first asks the C side; where that
 * has no answer, the call goes on by a jump, so that the real one still finds the program's return address on the stack:
 * glibc resolves RTLD_NEXT, RTLD_DEFAULT and file names by it.
 *
 * struct answer { uintptr_t answered; void *value; } comes back in rax:rdx.
 */
#if defined(__x86_64__)
    .text

/* For functions of two arguments; the caller's return address is the third of `decide`. */
    .macro  door name
    .globl  ptds_\name\()_old, ptds_\name\()_new
    .type   ptds_\name\()_old, @function
    .type   ptds_\name\()_new, @function
ptds_\name\()_old:
ptds_\name\()_new:
    .cfi_startproc
    endbr64
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq    24(%rsp), %rdx
    call    ptds_\name\()_decide
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    testq   %rax, %rax
    jne     1f
    jmp     *ptds_real_\name(%rip)
1:  movq    %rdx, %rax
    ret
    .cfi_endproc
    .size   ptds_\name\()_old, .-ptds_\name\()_old
    .size   ptds_\name\()_new, .-ptds_\name\()_new
    .endm

    door    dlsym
    door    dlopen

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
    .symver ptds_dlopen_old, dlopen@GLIBC_2.2.5, remove
    .symver ptds_dlopen_new, dlopen@@GLIBC_2.34, remove

#endif

    .section .note.GNU-stack, "", @progbits
