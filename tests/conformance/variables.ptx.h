/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that touch a variable of their own module and no memory that a parameter names, as PTX text like kernels.ptx.h.
 * Each time that the text is loaded there is one more variable.
 *
 *   ptds_var                            256 words, in global memory
 *   ptds_start                          4 words in constant memory: 3, 1, 4, 1
 *   var_set(u32 value)                  ptds_var[i] = value, all of them
 *   var_add(u32 n)                      ptds_var[i] += 1, n at most 256
 *   var_get(u64 dst, u32 n)             dst[i] = ptds_var[i], n at most 256
 *
 * And in a text of its own, a variable in which a kernel leaves a pointer for others:
 *
 *   ptds_kept                           a pointer, in global memory
 *   kept_set(u64 p)                     ptds_kept = p
 *   kept_add(u32 n)                     ptds_kept[i] += 1
 *   kept_get(u64 dst, u32 n)            dst[i] = ptds_kept[i]
 */
#ifndef PTDS_TESTS_VARIABLES_PTX_H
#define PTDS_TESTS_VARIABLES_PTX_H

#include "tests/conformance/kernels.ptx.h"

/* clang-format off */

static const char ptds_variables_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 4 .u32 ptds_var[256];\n"
    ".visible .const .align 4 .u32 ptds_start[4] = {3, 1, 4, 1};\n"

    ".visible .entry var_set(.param .u32 var_set_value)\n{\n" PTX_REGISTERS
    "mov.u64 %rd1, ptds_var;\n ld.param.u32 %r1, [var_set_value];\n"
    PTX_ELEMENTS_BEGIN("256") "add.u64 %rd2, %rd1, %rd20;\n st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry var_add(.param .u32 var_add_n)\n{\n" PTX_REGISTERS
    "mov.u64 %rd1, ptds_var;\n ld.param.u32 %r2, [var_add_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry var_get(.param .u64 var_get_dst, .param .u32 var_get_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd2", "var_get_dst") "mov.u64 %rd1, ptds_var;\n ld.param.u32 %r2, [var_get_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n"
    "ld.global.u32 %r1, [%rd3];\n st.global.u32 [%rd4], %r1;\n" PTX_ELEMENTS_END;

#define PTX_KEPT "ld.global.u64 %rd1, [ptds_kept];\n cvta.to.global.u64 %rd1, %rd1;\n"

static const char ptds_kept_ptx[] __attribute__((unused)) =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 8 .u64 ptds_kept;\n"

    ".visible .entry kept_set(.param .u64 kept_set_p)\n{\n" PTX_REGISTERS
    "ld.param.u64 %rd1, [kept_set_p];\n st.global.u64 [ptds_kept], %rd1;\n ret;\n}\n"

    ".visible .entry kept_add(.param .u32 kept_add_n)\n{\n" PTX_REGISTERS PTX_KEPT "ld.param.u32 %r2, [kept_add_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry kept_get(.param .u64 kept_get_dst, .param .u32 kept_get_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd2", "kept_get_dst") PTX_KEPT "ld.param.u32 %r2, [kept_get_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n"
    "ld.global.u32 %r1, [%rd3];\n st.global.u32 [%rd4], %r1;\n" PTX_ELEMENTS_END;

/* clang-format on */

#endif
