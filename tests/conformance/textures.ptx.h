/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that find their memory by a texture or surface object, as PTX text like kernels.ptx.h.
 *
 *   tex_copy(u64 dst, u64 texture, u32 n)     dst[i] = texture[i]; words, linear memory or an array of one dimension
 *   surf_add(u64 surface, u32 n)              surface[i] += 1; words, an array of one dimension
 */
#ifndef PTDS_TESTS_TEXTURES_PTX_H
#define PTDS_TESTS_TEXTURES_PTX_H

#include "tests/conformance/kernels.ptx.h"

/* clang-format off */

static const char ptds_textures_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"

    ".visible .entry tex_copy(.param .u64 tex_copy_dst, .param .u64 tex_copy_texture, .param .u32 tex_copy_n)\n{\n"
    PTX_REGISTERS PTX_POINTER("%rd1", "tex_copy_dst")
    "ld.param.u64 %rd2, [tex_copy_texture];\n ld.param.u32 %r2, [tex_copy_n];\n" PTX_ELEMENTS_BEGIN("%r2")
    "tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd2, {%r24}];\n add.u64 %rd3, %rd1, %rd20;\n st.global.u32 [%rd3], %r3;\n"
    PTX_ELEMENTS_END

    ".visible .entry surf_add(.param .u64 surf_add_surface, .param .u32 surf_add_n)\n{\n" PTX_REGISTERS
    "ld.param.u64 %rd2, [surf_add_surface];\n ld.param.u32 %r2, [surf_add_n];\n" PTX_ELEMENTS_BEGIN("%r2")
    "shl.b32 %r4, %r24, 2;\n suld.b.1d.b32.trap {%r3}, [%rd2, {%r4}];\n add.u32 %r3, %r3, 1;\n"
    "sust.b.1d.b32.trap [%rd2, {%r4}], {%r3};\n" PTX_ELEMENTS_END;

/* clang-format on */

#endif
