// SPDX-License-Identifier: Apache-2.0
//
// Ways that begin with the kernel's parameters, which do not show the address as it is used. Listed in pointers.h, used by
// the rows.

#include <string.h>

#include "tests/apps/pointers/pointers.h"

enum { EDGE = 65536, FAR = 64 << 20 };
#define KEY 0x5a5a5a5a5a5a5a5aull
#define TAG 0xabull

static uint32_t low(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

static void pass_target(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target);
}

// By what a C++ compiler makes of write(const unsigned *, unsigned long, unsigned, unsigned) and of read(const unsigned *,
// unsigned long, unsigned *, unsigned).
const struct way way_const_name = {
    .parameters = ".param .u64 p, ",
    .code = "ld.param.u64 %rd1, [p];\n",
    .pass = pass_target,
    .write_name = "_Z5writePKjmjj",
    .read_name = "_Z4readPKjmPjj",
};

// ---- two words of 32 bits ----

static void pass_halves(struct scene *s, struct arguments *a)
{
    pass_32(a, low(s->target));
    pass_32(a, high(s->target));
}

static void pass_halves_swapped(struct scene *s, struct arguments *a)
{
    pass_32(a, high(s->target));
    pass_32(a, low(s->target));
}

static void pass_three_between(struct scene *s, struct arguments *a, uint32_t first, uint32_t last)
{
    (void)s;
    pass_32(a, first);
    for (uint32_t i = 0; i < 3; i++)
        pass_32(a, 7 + i);
    pass_32(a, last);
}

static void pass_halves_apart(struct scene *s, struct arguments *a)
{
    pass_three_between(s, a, low(s->target), high(s->target));
}

static void pass_halves_swapped_apart(struct scene *s, struct arguments *a)
{
    pass_three_between(s, a, high(s->target), low(s->target));
}

#define JOIN "ld.param.u32 %r1, [low];\nld.param.u32 %r2, [high];\nmov.b64 %rd1, {%r1, %r2};\n"
#define BETWEEN ".param .u32 a, .param .u32 b, .param .u32 c, "
#define HALVES(name, given, passed) const struct way name = {.parameters = given, .code = JOIN, .pass = passed}

HALVES(way_halves, ".param .u32 low, .param .u32 high, ", pass_halves);
HALVES(way_halves_swapped, ".param .u32 high, .param .u32 low, ", pass_halves_swapped);
HALVES(way_halves_apart, ".param .u32 low, " BETWEEN ".param .u32 high, ", pass_halves_apart);
HALVES(way_halves_swapped_apart, ".param .u32 high, " BETWEEN ".param .u32 low, ", pass_halves_swapped_apart);

// ---- arithmetic ----

static void pass_before(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target - EDGE);
}

static void pass_behind(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target + EDGE);
}

static void pass_far_before(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target - FAR);
}

static void pass_far_behind(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target + FAR);
}

#define MOVED(name, by, passed) \
    const struct way name = { \
        .parameters = ".param .u64 p, ", .code = "ld.param.u64 %rd1, [p];\nadd.s64 %rd1, %rd1, " by ";\n", .pass = passed}

MOVED(way_before, "65536", pass_before);
MOVED(way_behind, "-65536", pass_behind);
MOVED(way_far_before, "67108864", pass_far_before);
MOVED(way_far_behind, "-67108864", pass_far_behind);

static void pass_difference(struct scene *s, struct arguments *a)
{
    pass_64(a, s->decoy);
    pass_64(a, s->target - s->decoy);
}

static void pass_difference_computed(struct scene *s, struct arguments *a)
{
    pass_64(a, s->decoy);
    pass_64(a, s->target);
}

const struct way way_difference = {
    .parameters = ".param .u64 q, .param .u64 difference, ",
    .code = "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [difference];\nadd.u64 %rd1, %rd2, %rd3;\n",
    .pass = pass_difference,
};

// q + (p - q)
const struct way way_difference_computed = {
    .parameters = ".param .u64 q, .param .u64 p, ",
    .code = "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [p];\nsub.u64 %rd3, %rd3, %rd2;\nadd.u64 %rd1, %rd2, %rd3;\n",
    .pass = pass_difference_computed,
};

static void pass_tag_high(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target | TAG << 56);
}

static void pass_tag_low(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target | 5);
}

static void pass_xor(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target ^ KEY);
    pass_64(a, KEY);
}

static void pass_xor_constant(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target ^ KEY);
}

static void pass_shifted(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target >> 3);
}

static void pass_negated(struct scene *s, struct arguments *a)
{
    pass_64(a, 0 - s->target);
}

#define COMPUTED(name, more, how, passed) \
    const struct way name = {.parameters = ".param .u64 p, " more, .code = "ld.param.u64 %rd1, [p];\n" how, .pass = passed}

COMPUTED(way_tag_high, "", "and.b64 %rd1, %rd1, 0x00ffffffffffffff;\n", pass_tag_high);
COMPUTED(way_tag_low, "", "and.b64 %rd1, %rd1, -8;\n", pass_tag_low);
COMPUTED(way_xor, ".param .u64 key, ", "ld.param.u64 %rd2, [key];\nxor.b64 %rd1, %rd1, %rd2;\n", pass_xor);
COMPUTED(way_xor_constant, "", "xor.b64 %rd1, %rd1, 0x5a5a5a5a5a5a5a5a;\n", pass_xor_constant);
COMPUTED(way_shifted, "", "shl.b64 %rd1, %rd1, 3;\n", pass_shifted);
COMPUTED(way_negated, "", "neg.s64 %rd1, %rd1;\n", pass_negated);

// ---- structures by value ----

enum { ODD = 12, PACKED = 5, MIDDLE = 32, LARGE_WORD = 391 };

static void pass_block(struct scene *s, struct arguments *a, size_t at)
{
    memset(s->block, 0, sizeof s->block);
    memcpy(s->block + at, &s->target, sizeof s->target);
    pass_at(a, s->block);
}

static void pass_odd(struct scene *s, struct arguments *a)
{
    pass_block(s, a, ODD);
}

static void pass_packed(struct scene *s, struct arguments *a)
{
    pass_block(s, a, PACKED);
}

static void pass_middle(struct scene *s, struct arguments *a)
{
    pass_block(s, a, MIDDLE);
}

static void pass_large(struct scene *s, struct arguments *a)
{
    pass_block(s, a, LARGE_WORD * 8);
    pass_32(a, LARGE_WORD);
}

const struct way way_struct_odd = {
    .parameters = ".param .align 4 .b8 block[24], ",
    .code = "ld.param.u32 %r1, [block+12];\nld.param.u32 %r2, [block+16];\nmov.b64 %rd1, {%r1, %r2};\n",
    .pass = pass_odd,
};

#define BYTE(offset, shift) \
    "ld.param.u8 %rd2, [block+" offset "];\nshl.b64 %rd2, %rd2, " shift ";\nor.b64 %rd1, %rd1, %rd2;\n"

const struct way way_struct_packed = {
    .parameters = ".param .align 1 .b8 block[17], ",
    .code = "mov.u64 %rd1, 0;\n" BYTE("5", "0") BYTE("6", "8") BYTE("7", "16") BYTE("8", "24") BYTE("9", "32")
        BYTE("10", "40") BYTE("11", "48") BYTE("12", "56"),
    .pass = pass_packed,
};

const struct way way_struct_middle = {
    .parameters = ".param .align 8 .b8 block[64], ",
    .code = "ld.param.u64 %rd1, [block+32];\n",
    .pass = pass_middle,
};

// Indexed when it runs.
const struct way way_struct_large = {
    .parameters = ".param .align 8 .b8 block[3968], .param .u32 word, ",
    .code = "ld.param.u32 %r1, [word];\nmov.b64 %rd2, block;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd2, %rd2, %rd3;\n"
            "ld.param.u64 %rd1, [%rd2];\n",
    .pass = pass_large,
};

// ---- what the kernel does with it on the way ----

static void pass_selected(struct scene *s, struct arguments *a)
{
    pass_64(a, s->decoy);
    pass_64(a, s->target);
    pass_32(a, 1);
}

const struct way way_selected = {
    .parameters = ".param .u64 q, .param .u64 p, .param .u32 second, ",
    .code = "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [p];\nld.param.u32 %r1, [second];\nsetp.ne.u32 %p1, %r1, 0;\n"
            "selp.b64 %rd1, %rd3, %rd2, %p1;\n",
    .pass = pass_selected,
};

const struct way way_shared = {
    .parameters = ".param .u64 p, ",
    .code = ".shared .align 8 .u64 kept[4];\nld.param.u64 %rd2, [p];\nst.shared.u64 [kept+8], %rd2;\nbar.sync 0;\n"
            "ld.shared.u64 %rd1, [kept+8];\n",
    .pass = pass_target,
};

static void pass_local(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target);
    pass_32(a, 5);
}

// By an index, so that it stays in memory.
const struct way way_local = {
    .parameters = ".param .u64 p, .param .u32 word, ",
    .code =
        ".local .align 8 .b8 kept[64];\nld.param.u64 %rd2, [p];\nld.param.u32 %r1, [word];\nmul.wide.u32 %rd3, %r1, 8;\n"
        "mov.u64 %rd4, kept;\nst.local.u64 [kept], %rd2;\nst.local.u64 [kept+40], %rd2;\nadd.u64 %rd4, %rd4, %rd3;\n"
        "ld.local.u64 %rd1, [%rd4];\n",
    .pass = pass_local,
};
