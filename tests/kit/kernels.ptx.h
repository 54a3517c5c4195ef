/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the kit, as PTX text under the names that a C++ compiler gives them: the names say which pointers are
 * only read. Included by kit.c; must use nothing that a driver of 2020 or a GPU of 2015 does not take.
 *
 *   gate(const unsigned *flag)                                         runs until *flag is not 0
 *   fill(unsigned *p, unsigned value, unsigned n)                      p[i] = value
 *   add_one(unsigned *p, unsigned n)                                   p[i] += 1
 *   copy(unsigned *dst, const unsigned *src, unsigned n)               dst[i] = src[i]
 *   empty()                                                            nothing
 */
#ifndef PTDS_TESTS_KIT_KERNELS_PTX_H
#define PTDS_TESTS_KIT_KERNELS_PTX_H

#include "tests/conformance/kernels.ptx.h"

#define KIT_GATE "_Z4gatePKj"
#define KIT_FILL "_Z4fillPjjj"
#define KIT_ADD_ONE "_Z7add_onePjj"
#define KIT_COPY "_Z4copyPjPKjj"
#define KIT_EMPTY "_Z5emptyv"

/* clang-format off */

#define KIT_PTX_HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"
#define KIT_PTX_EMPTY ".visible .entry " KIT_EMPTY "()\n{\n ret;\n}\n"

static const char kit_ptx[] =
    KIT_PTX_HEAD KIT_PTX_EMPTY

    ".visible .entry " KIT_GATE "(.param .u64 gate_flag)\n{\n" PTX_REGISTERS PTX_POINTER("%rd1", "gate_flag")
    "WAIT:\n ld.volatile.global.u32 %r1, [%rd1];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra WAIT;\n ret;\n}\n"

    ".visible .entry " KIT_FILL "(.param .u64 fill_p, .param .u32 fill_value, .param .u32 fill_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "fill_p") "ld.param.u32 %r1, [fill_value];\n ld.param.u32 %r2, [fill_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry " KIT_ADD_ONE "(.param .u64 add_one_p, .param .u32 add_one_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "add_one_p") "ld.param.u32 %r2, [add_one_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END

    ".visible .entry " KIT_COPY "(.param .u64 copy_dst, .param .u64 copy_src, .param .u32 copy_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "copy_dst") PTX_POINTER("%rd2", "copy_src") "ld.param.u32 %r2, [copy_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n"
    "ld.global.u32 %r1, [%rd4];\n st.global.u32 [%rd3], %r1;\n" PTX_ELEMENTS_END;

/* A module of its own, for what loading one does. */
static const char kit_late_ptx[] = KIT_PTX_HEAD KIT_PTX_EMPTY;

/* clang-format on */

#endif
