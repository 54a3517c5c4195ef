// SPDX-License-Identifier: Apache-2.0
//
// Ways in which a kernel loads a pointer otherwise than by one plain load, or makes it of what it loads. Listed in
// pointers.h, used by the rows.

#include "tests/apps/pointers/pointers.h"

enum { FAR = 64 << 20 };

static void pass_table(struct scene *s, struct arguments *a)
{
    pass_64(a, s->table);
    pass_32(a, (uint32_t)s->entry);
}

static void pass_target(struct scene *s, struct arguments *a)
{
    pass_64(a, s->target);
}

static void pass_nothing(struct scene *s, struct arguments *a)
{
    (void)s;
    (void)a;
}

#define ENTRY_AT \
    "ld.param.u64 %rd2, [table];\nld.param.u32 %r1, [entry];\nmul.wide.u32 %rd3, %r1, 8;\nadd.u64 %rd2, %rd2, %rd3;\n" \
    "cvta.to.global.u64 %rd2, %rd2;\n"
#define LOADED(name, how) \
    const struct way name = { \
        .parameters = ".param .u64 table, .param .u32 entry, ", .code = ENTRY_AT how, .pass = pass_table}
#define BYTE(offset, shift) \
    "ld.global.u8 %rd4, [%rd2+" offset "];\nshl.b64 %rd4, %rd4, " shift ";\nor.b64 %rd1, %rd1, %rd4;\n"

LOADED(way_read_only, "ld.global.nc.u64 %rd1, [%rd2];\n");
LOADED(way_volatile, "ld.volatile.global.u64 %rd1, [%rd2];\n");
LOADED(way_vector, "ld.global.v2.u64 {%rd4, %rd1}, [%rd2+-8];\n");
LOADED(way_atomic_load, "atom.global.or.b64 %rd1, [%rd2], 0;\n");
LOADED(way_exchange, "ld.global.u64 %rd4, [%rd2];\natom.global.exch.b64 %rd1, [%rd2], %rd4;\n");
LOADED(way_two_loads, "ld.global.u32 %r2, [%rd2];\nld.global.u32 %r3, [%rd2+4];\nmov.b64 %rd1, {%r2, %r3};\n");
LOADED(way_shifted_loads, "ld.global.u32 %rd4, [%rd2];\nld.global.u32 %rd5, [%rd2+4];\nshl.b64 %rd5, %rd5, 32;\n"
                          "or.b64 %rd1, %rd4, %rd5;\n");
LOADED(way_bytes, "mov.u64 %rd1, 0;\n" BYTE("0", "0") BYTE("1", "8") BYTE("2", "16") BYTE("3", "24") BYTE("4", "32")
                      BYTE("5", "40") BYTE("6", "48") BYTE("7", "56"));

// By a branch, not a selection: the one that the entry's number is behind.
LOADED(way_branched, "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra OTHER;\nld.global.u64 %rd1, [%rd2+-8];\nbra FOUND;\n"
                     "OTHER:\nld.global.u64 %rd1, [%rd2];\nFOUND:\n");

// The low words in one table, the high ones in another.
static void pass_split(struct scene *s, struct arguments *a)
{
    pass_64(a, s->table);
    pass_64(a, s->more[0]);
    pass_32(a, (uint32_t)s->entry);
}

const struct way way_split = {
    .parameters = ".param .u64 lows, .param .u64 highs, .param .u32 entry, ",
    .code = "ld.param.u64 %rd2, [lows];\nld.param.u64 %rd3, [highs];\nld.param.u32 %r1, [entry];\n"
            "mul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd2, %rd2, %rd4;\nadd.u64 %rd3, %rd3, %rd4;\n"
            "ld.u32 %r2, [%rd2];\nld.u32 %r3, [%rd3];\nmov.b64 %rd1, {%r2, %r3};\n",
    .pass = pass_split,
};

// A texture that has the table's words.
static void pass_texture(struct scene *s, struct arguments *a)
{
    pass_64(a, s->texture);
    pass_32(a, (uint32_t)s->entry);
}

const struct way way_fetched = {
    .parameters = ".param .u64 texture, .param .u32 entry, ",
    .code = "ld.param.u64 %rd2, [texture];\nld.param.u32 %r1, [entry];\nshl.b32 %r1, %r1, 1;\nadd.u32 %r2, %r1, 1;\n"
            "tex.1d.v4.u32.s32 {%r3, %r5, %r6, %r7}, [%rd2, {%r1}];\n"
            "tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r2}];\nmov.b64 %rd1, {%r3, %r4};\n",
    .pass = pass_texture,
};

// ---- parameters ----

static void pass_halves(struct scene *s, struct arguments *a)
{
    pass_32(a, (uint32_t)s->target);
    pass_32(a, (uint32_t)(s->target >> 32));
}

const struct way way_halves_shifted = {
    .parameters = ".param .u32 low, .param .u32 high, ",
    .code = "ld.param.u32 %rd1, [low];\nld.param.u32 %rd2, [high];\nshl.b64 %rd2, %rd2, 32;\nor.b64 %rd1, %rd1, %rd2;\n",
    .pass = pass_halves,
};

const struct way way_halves_product = {
    .parameters = ".param .u32 low, .param .u32 high, ",
    .code = "ld.param.u32 %rd1, [low];\nld.param.u32 %rd2, [high];\nmad.lo.u64 %rd1, %rd2, 4294967296, %rd1;\n",
    .pass = pass_halves,
};

const struct way way_called = {
    .globals = ".func (.param .b64 result) same(.param .b64 given)\n{\n.reg .b64 %rd<2>;\n"
               "ld.param.b64 %rd1, [given];\nst.param.b64 [result], %rd1;\nret;\n}\n",
    .parameters = ".param .u64 p, ",
    .code = "ld.param.u64 %rd2, [p];\n"
            "{\n.param .b64 given;\n.param .b64 result;\nst.param.b64 [given], %rd2;\n"
            "call (result), same, (given);\nld.param.b64 %rd1, [result];\n}\n",
    .pass = pass_target,
};

// From the middle of an allocation, far from its edges, to another one.
static void pass_far_difference(struct scene *s, struct arguments *a)
{
    pass_64(a, s->more[0] + FAR / 2);
    pass_64(a, s->target - (s->more[0] + FAR / 2));
}

const struct way way_difference_far = {
    .parameters = ".param .u64 q, .param .u64 difference, ",
    .code = "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [difference];\nadd.u64 %rd1, %rd2, %rd3;\n",
    .pass = pass_far_difference,
};

// The same by an index: what an array's index that leaves the array by far would be.
static void pass_far_index(struct scene *s, struct arguments *a)
{
    pass_64(a, s->more[0] + FAR / 2);
    pass_64(a, (uint64_t)((int64_t)(s->target - (s->more[0] + FAR / 2)) >> 2));
}

const struct way way_index_far = {
    .parameters = ".param .u64 q, .param .u64 index, ",
    .code = "ld.param.u64 %rd2, [q];\nld.param.u64 %rd3, [index];\nshl.b64 %rd3, %rd3, 2;\nadd.u64 %rd1, %rd2, %rd3;\n",
    .pass = pass_far_index,
};

// ---- variables that have addresses from the beginning ----

const struct way way_first_value = {
    .globals = ".visible .global .align 8 .u32 own_words[64];\n"
               ".visible .global .align 8 .u64 pointer = generic(own_words);\n",
    .parameters = "",
    .code = "ld.global.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
};

const struct way way_first_value_constant = {
    .globals = ".visible .global .align 8 .u32 own_words[64];\n"
               ".visible .const .align 8 .u64 pointer = generic(own_words);\n",
    .parameters = "",
    .code = "ld.const.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
};
