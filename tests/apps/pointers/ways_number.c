// SPDX-License-Identifier: Apache-2.0
//
// Ways in which numbers stand beside a pointer, or where a pointer may be: distances of 64 bits, factors by value. Listed
// in pointers.h, used by the rows.

#include <string.h>

#include "tests/apps/pointers/pointers.h"

enum { STEP = 64, STRIDE = 4096 };

static void pass_moved(struct scene *s, struct arguments *a, uint64_t pointer, uint64_t distance)
{
    (void)s;
    pass_64(a, pointer);
    pass_64(a, distance);
}

static void pass_none(struct scene *s, struct arguments *a)
{
    pass_moved(s, a, s->target, 0);
}

static void pass_step(struct scene *s, struct arguments *a)
{
    pass_moved(s, a, s->target - STEP, STEP);
}

static void pass_eighth(struct scene *s, struct arguments *a)
{
    pass_moved(s, a, s->target >> 3, 0);
}

#define DISTANCE ".param .u64 p, .param .u64 distance, "
#define LOAD "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [distance];\n"
#define EXTEND "shl.b64 %rd1, %rd1, 16;\nshr.s64 %rd1, %rd1, 16;\n"
#define MOVED(name, how, passed) \
    const struct way name = {.parameters = DISTANCE, .code = LOAD how "add.s64 %rd1, %rd1, %rd2;\n", .pass = passed}

// The upper bits are taken off as of a tag: the pointer is no longer plain to see, and the distance is.
MOVED(way_extended, EXTEND, pass_none);
MOVED(way_extended_step, EXTEND, pass_step);
MOVED(way_eighth, "shl.b64 %rd1, %rd1, 3;\n", pass_eighth);

static void pass_table(struct scene *s, struct arguments *a, uint64_t distance)
{
    pass_64(a, s->table);
    pass_64(a, distance);
    pass_32(a, (uint32_t)s->entry);
}

static void pass_table_step(struct scene *s, struct arguments *a)
{
    pass_table(s, a, STEP);
}

static void pass_table_none(struct scene *s, struct arguments *a)
{
    pass_table(s, a, 0);
}

#define TABLE(name, how, passed) \
    const struct way name = { \
        .parameters = ".param .u64 table, .param .u64 distance, .param .u32 entry, ", \
        .code = "ld.param.u64 %rd3, [table];\nld.param.u32 %r1, [entry];\nmul.wide.u32 %rd4, %r1, 8;\n" \
                "add.u64 %rd3, %rd3, %rd4;\nld.global.u64 %rd1, [%rd3];\nld.param.u64 %rd2, [distance];\n" how \
                "add.s64 %rd1, %rd1, %rd2;\n", \
        .pass = passed}

TABLE(way_loaded_step, "add.s64 %rd1, %rd1, -64;\n", pass_table_step);
TABLE(way_loaded_none, "", pass_table_none);
TABLE(way_loaded_extended, EXTEND, pass_table_none);

// As libraries for matrices have it: one of several pointers, and distances that are added again and again.
static void pass_many(struct scene *s, struct arguments *a, uint64_t pointer, uint64_t distance)
{
    pass_64(a, s->decoy);
    pass_64(a, 0);
    pass_64(a, pointer);
    pass_64(a, 0x3ff0000000000000);
    pass_64(a, STRIDE);
    pass_64(a, distance);
    pass_64(a, 0);
    pass_64(a, STRIDE);
    pass_32(a, 1);
}

static void pass_either(struct scene *s, struct arguments *a)
{
    pass_many(s, a, s->target - STEP, STEP);
}

static void pass_either_difference(struct scene *s, struct arguments *a)
{
    pass_many(s, a, s->decoy, s->target - s->decoy);
}

static void pass_either_null(struct scene *s, struct arguments *a)
{
    pass_many(s, a, 0, s->target);
}

#define PARAMETER(number, name) "ld.param.u64 %rd" number ", [" name "];\n"
#define SELECT(into, one, other) "selp.b64 %rd" into ", %rd" one ", %rd" other ", %p1;\n"
#define EITHER(name, passed) \
    const struct way name = { \
        .parameters = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e, .param .u64 f, " \
                      ".param .u64 g, .param .u64 h, .param .u32 which, ", \
        .code = PARAMETER("2", "a") PARAMETER("3", "b") PARAMETER("4", "c") PARAMETER("5", "d") PARAMETER("6", "e") \
            PARAMETER("7", "f") PARAMETER("8", "g") \
                PARAMETER("9", "h") "ld.param.u32 %r1, [which];\nsetp.ne.u32 %p1, %r1, 0;\n" SELECT("10", "3", "2") \
                    SELECT("11", "4", "5") SELECT("12", "7", "6") \
                        SELECT("13", "8", "9") "setp.eq.u32 %p1, %r1, 7;\n" SELECT( \
                            "1", "10", "11") "add.s64 %rd1, %rd1, %rd12;\nadd.s64 %rd1, %rd1, %rd13;\n", \
        .pass = passed}

EITHER(way_either, pass_either);
EITHER(way_either_difference, pass_either_difference);
EITHER(way_either_null, pass_either_null);
