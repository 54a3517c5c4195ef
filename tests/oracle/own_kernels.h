/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that only the oracle needs, as PTX: pcopy(unsigned *dst, unsigned *src, unsigned n), dst[i] = src[i], whose name
 * does not say that src is only read. Included by runner_world.c and runner_kernels.c.
 */
#ifndef ORACLE_OWN_KERNELS_H
#define ORACLE_OWN_KERNELS_H

#include "tests/conformance/tables.ptx.h"

#define ORACLE_PCOPY "_Z5pcopyPjS_j"
#define ORACLE_BODIES "_Z4moveP4Bodyjjj" /* as scatter, the pointers in objects of a class */

/* clang-format off */

static const char oracle_ptx[] __attribute__((unused)) =
    ".version 7.0\n.target sm_52\n.address_size 64\n"

    ".visible .entry " ORACLE_PCOPY "(.param .u64 pcopy_dst, .param .u64 pcopy_src, .param .u32 pcopy_n)\n{\n"
    PTX_REGISTERS PTX_POINTER("%rd1", "pcopy_dst") PTX_POINTER("%rd2", "pcopy_src") "ld.param.u32 %r2, [pcopy_n];\n"
    PTX_ELEMENTS_BEGIN("%r2") "add.u64 %rd3, %rd1, %rd20;\n add.u64 %rd4, %rd2, %rd20;\n"
    "ld.global.u32 %r1, [%rd4];\n st.global.u32 [%rd3], %r1;\n" PTX_ELEMENTS_END

    PTX_SCATTER(ORACLE_BODIES);

/* clang-format on */

#endif
