/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that find their memory by pointers that lie in device memory or deep in a large parameter, as PTX text like
 * kernels.ptx.h, each under a plain name and under the one that a C++ compiler gives it.
 *
 *   gather(u64 dst, u64 table, u32 count, u32 n)       dst[i] = sum over k < count of table[k][i]
 *     gather(unsigned *, const unsigned **, unsigned, unsigned)
 *   scatter(u64 table, u32 count, u32 value, u32 n)    table[k][i] = value for all k < count
 *     scatter(unsigned **, unsigned, unsigned, unsigned)
 *   deep_add(u64 words[500], u32 n)                    p[i] += 1, p in the last of 4,000 bytes that are passed by value
 */
#ifndef PTDS_TESTS_TABLES_PTX_H
#define PTDS_TESTS_TABLES_PTX_H

#include "tests/conformance/kernels.ptx.h"

#define PTDS_GATHER "_Z6gatherPjPPKjjj"
#define PTDS_SCATTER "_Z7scatterPPjjjj"

/* clang-format off */

/* Runs over the pointers of %rd2, count in %r1: each in %rd4 for the element that is at hand. */
#define PTX_TABLE_BEGIN \
    "mov.u32 %r4, 0;\n mov.u64 %rd3, %rd2;\n" \
    "POINTER:\n setp.ge.u32 %p2, %r4, %r1;\n @%p2 bra LAST;\n ld.global.u64 %rd4, [%rd3];\n" \
    "cvta.to.global.u64 %rd4, %rd4;\n add.u64 %rd4, %rd4, %rd20;\n"

#define PTX_TABLE_END "add.u64 %rd3, %rd3, 8;\n add.u32 %r4, %r4, 1;\n bra POINTER;\nLAST:\n"

#define PTX_GATHER(name) \
    ".visible .entry " name "(.param .u64 " name "_dst, .param .u64 " name "_table, .param .u32 " name "_count,\n" \
    " .param .u32 " name "_n)\n{\n" PTX_REGISTERS PTX_POINTER("%rd1", name "_dst") PTX_POINTER("%rd2", name "_table") \
    "ld.param.u32 %r1, [" name "_count];\n ld.param.u32 %r2, [" name "_n];\n" \
    PTX_ELEMENTS_BEGIN("%r2") "mov.u32 %r3, 0;\n" \
    PTX_TABLE_BEGIN "ld.global.u32 %r5, [%rd4];\n add.u32 %r3, %r3, %r5;\n" PTX_TABLE_END \
    "add.u64 %rd5, %rd1, %rd20;\n st.global.u32 [%rd5], %r3;\n" PTX_ELEMENTS_END

#define PTX_SCATTER(name) \
    ".visible .entry " name "(.param .u64 " name "_table, .param .u32 " name "_count, .param .u32 " name "_value,\n" \
    " .param .u32 " name "_n)\n{\n" PTX_REGISTERS PTX_POINTER("%rd2", name "_table") \
    "ld.param.u32 %r1, [" name "_count];\n ld.param.u32 %r3, [" name "_value];\n ld.param.u32 %r2, [" name "_n];\n" \
    PTX_ELEMENTS_BEGIN("%r2") PTX_TABLE_BEGIN "st.global.u32 [%rd4], %r3;\n" PTX_TABLE_END PTX_ELEMENTS_END

static const char ptds_tables_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    PTX_GATHER("gather") PTX_GATHER(PTDS_GATHER) PTX_SCATTER("scatter") PTX_SCATTER(PTDS_SCATTER)

    ".visible .entry deep_add(.param .align 8 .b8 deep_add_words[4000], .param .u32 deep_add_n)\n{\n" PTX_REGISTERS
    PTX_POINTER("%rd1", "deep_add_words+3992") "ld.param.u32 %r2, [deep_add_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd2, %rd1, %rd20;\n ld.global.u32 %r1, [%rd2];\n add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd2], %r1;\n" PTX_ELEMENTS_END;

/* clang-format on */

#endif
