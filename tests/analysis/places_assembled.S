/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of places.cc: a call site with a line, in a function that the debug information does not know, as assemblers have it.
 */
    .text
    .globl assembled
assembled:
#ifdef __aarch64__
    stp x29, x30, [sp, #-16]!
    bl _ZN6places5whereEv
    ldp x29, x30, [sp], #16 /* assembled */
#else
    sub $8, %rsp
    call _ZN6places5whereEv
    add $8, %rsp /* assembled */
#endif
    ret
    .size assembled, . - assembled
    .section .note.GNU-stack, "", %progbits
