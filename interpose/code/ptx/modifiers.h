/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of words that follow the names of PTX instructions, for instructions.def: each word has a blank before it.
 */
#ifndef PTDS_CODE_PTX_MODIFIERS_H
#define PTDS_CODE_PTX_MODIFIERS_H

#define INTEGERS " u16 u32 u64 s16 s32 s64"
#define HALVES " f16 f16x2 bf16 bf16x2"
#define FLOATS " f32 f64"
/* Of eight bits and fewer. */
#define SMALL_FLOATS \
    " tf32 e4m3 e5m2 e2m1 e2m3 e3m2 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2 e4m3x4 e5m2x4 e2m1x4 e2m3x4 e3m2x4 s2f6x2"
#define ROUNDING " rn rz rm rp"

#define SPACES " global shared shared::cta shared::cluster"
#define ORDER " relaxed acquire release acq_rel"
#define SCOPE " cta cluster gpu sys"
#define OPERATIONS " and or xor add inc dec min max"
#define PRIORITIES \
    " L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate" \
    " L2::evict_normal L2::evict_unchanged L2::evict_first L2::evict_last L2::cache_hint"

/* Loads and stores both. */
#define ACCESSES \
    SPACES " local b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 v2 v4 v8 volatile relaxed" SCOPE \
           " ca cg cs cv" PRIORITIES

/* What is brought, or told, to a barrier in shared memory. */
#define STAGED " shared::cta shared::cluster mbarrier::complete_tx::bytes"
#define PACKED_OPERATIONS OPERATIONS HALVES FLOATS " red noftz u32 u64 s32 s64 b32 b64"
#define COPY_PARTS \
    " async bulk reduce red tensor prefetch commit_group wait_group wait_all bulk_group read mbarrier arrive noinc" \
    " ca cg L2 L2::64B L2::128B L2::256B L2::cache_hint ignore_src cp cp_mask 1d 2d 3d 4d 5d tile tile::gather4" \
    " tile::scatter4 im2col im2col::w im2col::w::128 im2col_no_offs multicast::cluster cta_group::1 cta_group::2"

#define GEOMETRIES " 1d 2d 3d a1d a2d cube acube 2dms a2dms"
#define CLAMPS " trap clamp zero"
#define COMPARISONS " eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
#define VIDEO " u32 s32"
#define KINDS " kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"
#define COLLECTORS \
    " collector::a::fill collector::a::use collector::a::lastuse collector::a::discard collector::b#::fill" \
    " collector::b#::use collector::b#::lastuse collector::b#::discard"

#endif
