/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals at a launch. Called for launches of kernels whose memory several lanes use parts of. Each result must hold
 * every value that the number can have: what may pass the ends of 64 bits is any number, and of 32 bits what may pass an
 * end is all 32 bits.
 */
#include "interpose/code/extents/extents.h"

#include <string.h>

struct doing {
    const struct code_extent_step *step;
    const struct extents_launch *launch;
    struct extent *of, *at;
};

static struct extent between(int64_t low, int64_t high)
{
    return (struct extent){low, high};
}

static int is_none(struct extent a)
{
    return a.low > a.high;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct extent joined(struct extent a, struct extent b)
{
    if (is_none(a))
        return b;
    return is_none(b) ? a : between(smaller(a.low, b.low), larger(a.high, b.high));
}

/* ---- arithmetic ---- */

static struct extent sum(struct extent a, struct extent b)
{
    struct extent made;
    int over = __builtin_add_overflow(a.low, b.low, &made.low) | __builtin_add_overflow(a.high, b.high, &made.high);
    return over ? EXTENTS_ANY : made;
}

static struct extent difference(struct extent a, struct extent b)
{
    struct extent made;
    int over = __builtin_sub_overflow(a.low, b.high, &made.low) | __builtin_sub_overflow(a.high, b.low, &made.high);
    return over ? EXTENTS_ANY : made;
}

static struct extent product(struct extent a, struct extent b)
{
    int64_t w, x, y, z;
    int over = __builtin_mul_overflow(a.low, b.low, &w) | __builtin_mul_overflow(a.low, b.high, &x) |
               __builtin_mul_overflow(a.high, b.low, &y) | __builtin_mul_overflow(a.high, b.high, &z);
    if (over)
        return EXTENTS_ANY;
    return between(smaller(smaller(w, x), smaller(y, z)), larger(larger(w, x), larger(y, z)));
}

/* Of numbers that are not negative, by numbers above 0; others are not told. */
static struct extent quotient(struct extent a, struct extent b)
{
    return a.low < 0 || b.low <= 0 ? EXTENTS_ANY : between(a.low / b.high, a.high / b.low);
}

static struct extent remainder_of(struct extent a, struct extent b)
{
    return a.low < 0 || b.low <= 0 ? EXTENTS_ANY : between(0, smaller(a.high, b.high - 1));
}

static struct extent shifted(struct extent a, const struct code_extent_step *step)
{
    if (step->is_unsigned && a.low < 0) /* 64 bits: 32 are made positive first */
        return step->value ? between(0, (int64_t)(UINT64_MAX >> step->value)) : EXTENTS_ANY;
    return between(a.low >> step->value, a.high >> step->value);
}

static struct extent with_bits(struct extent a, int64_t bits)
{
    struct extent made = {a.low, 0};
    return a.low < 0 || __builtin_add_overflow(a.high, bits, &made.high) ? EXTENTS_ANY : made;
}

/* a is not negative, or any number. */
static struct extent bits_of(struct extent a, int64_t bits)
{
    return between(0, smaller(a.high, bits));
}

/* ---- 32 bits as a number ---- */

enum { TURN_BITS = 32 };

static struct extent moved_into(struct extent a, int64_t least, int64_t most)
{
    const int64_t turn = INT64_C(1) << TURN_BITS;
    if (a.low >= least && a.high <= most)
        return a;
    if ((uint64_t)a.high - (uint64_t)a.low >= (uint64_t)turn || a.low < -turn || a.high > 2 * turn)
        return between(least, most);
    for (int64_t by = -2 * turn; by <= 2 * turn; by += turn) {
        if (a.low + by >= least && a.high + by <= most)
            return between(a.low + by, a.high + by);
    }
    return between(least, most);
}

static struct extent as_unsigned(struct extent a, uint8_t bits)
{
    if (bits == 64)
        return a.low < 0 ? EXTENTS_ANY : a;
    return moved_into(a, 0, UINT32_MAX);
}

/* ---- comparisons ---- */

static int64_t before(int64_t a)
{
    return a == INT64_MIN ? a : a - 1;
}

static int64_t behind(int64_t a)
{
    return a == INT64_MAX ? a : a + 1;
}

/* Of 64 unsigned bits a negative number is a very large one. */
static struct extent limited(const struct code_extent_step *step, struct extent a, struct extent b)
{
    int is_upper = step->kind == CODE_EXTENT_BELOW || step->kind == CODE_EXTENT_UP_TO;
    if (step->is_unsigned && (b.low < 0 || (!is_upper && a.low < 0)))
        return a;
    if (step->is_unsigned)
        a.low = larger(a.low, 0);
    switch (step->kind) {
    case CODE_EXTENT_BELOW: a.high = smaller(a.high, before(b.high)); break;
    case CODE_EXTENT_UP_TO: a.high = smaller(a.high, b.high); break;
    case CODE_EXTENT_ABOVE: a.low = larger(a.low, behind(b.low)); break;
    case CODE_EXTENT_FROM: a.low = larger(a.low, b.low); break;
    default:
        a.low = larger(a.low, b.low);
        a.high = smaller(a.high, b.high);
        break;
    }
    return is_none(a) ? EXTENTS_NONE : a;
}

/* ---- what the launch says ---- */

static struct extent parameter(const struct doing *doing, const struct code_extent_step *step)
{
    const uint8_t *bytes = doing->launch->bytes(doing->launch->data, step->a);
    int64_t value = 0;
    int32_t half;
    if (!bytes)
        return EXTENTS_ANY;
    if (step->bits == 64) {
        memcpy(&value, bytes, sizeof value);
        return between(value, value);
    }
    memcpy(&half, bytes, sizeof half);
    return between(half, half);
}

static struct extent size_of(const struct extents_launch *launch, unsigned size)
{
    int64_t threads = launch->threads[size % 3], blocks = launch->blocks[size % 3];
    switch (size / 3 * 3) {
    case CODE_SIZE_THREAD: return between(0, threads - 1);
    case CODE_SIZE_BLOCK: return between(0, blocks - 1);
    case CODE_SIZE_THREADS: return between(threads, threads);
    default: return between(blocks, blocks);
    }
}

/* ---- steps ---- */

static void do_steps(const struct doing *doing, unsigned from, unsigned end);

static int lies_in(struct extent a, struct extent all)
{
    return is_none(a) || (a.low >= all.low && a.high <= all.high);
}

/* Whether a number that begins as `first`, and lies in `all` each time, does so the next time. */
static int goes_on(const struct doing *doing, unsigned loop, struct extent all)
{
    const struct code_extent_step *step = &doing->step[loop];
    doing->at[loop] = all;
    do_steps(doing, loop + 1, (unsigned)step->value + 1);
    return lies_in(doing->at[step->b], all);
}

static int goes_up(const struct doing *doing, unsigned loop, struct extent first, struct extent any)
{
    const struct extent *next = &doing->at[doing->step[loop].b];
    goes_on(doing, loop, between(first.low, larger(first.high, any.high)));
    return goes_on(doing, loop, between(first.low, larger(first.high, next->high)));
}

static int goes_down(const struct doing *doing, unsigned loop, struct extent first, struct extent any)
{
    const struct extent *next = &doing->at[doing->step[loop].b];
    goes_on(doing, loop, between(smaller(first.low, any.low), first.high));
    return goes_on(doing, loop, between(smaller(first.low, next->low), first.high));
}

/* Guesses the end to which it counts, and then sees whether it stays between the beginning and that end. Whatever is
 * guessed, only what stays is taken. */
static void do_loop(const struct doing *doing, unsigned loop)
{
    const struct code_extent_step *step = &doing->step[loop];
    struct extent any = step->bits == 32 ? between(INT32_MIN, INT32_MAX) : EXTENTS_ANY, first = doing->at[step->a];
    if (goes_on(doing, loop, first))
        return; /* it is no more than in the beginning; or it never begins */
    int is_up = doing->at[step->b].high > first.high;
    if (is_up ? goes_up(doing, loop, first, any) : goes_down(doing, loop, first, any))
        return;
    if (!(is_up ? goes_down(doing, loop, first, any) : goes_up(doing, loop, first, any)))
        goes_on(doing, loop, any);
}

/* Further than that no allocation reaches. */
static const int64_t far_away = INT64_C(1) << 48;
static void access(const struct doing *doing, const struct code_extent_step *step)
{
    struct extent *all = &doing->of[step->b], offset = doing->at[step->a];
    if (is_none(offset))
        return;
    if (offset.low < -far_away || offset.high > far_away)
        *all = EXTENTS_ANY;
    else
        *all = joined(*all, between(offset.low, offset.high + step->value));
}

static struct extent of_two(const struct code_extent_step *step, struct extent a, struct extent b)
{
    switch (step->kind) {
    case CODE_EXTENT_ADD: return sum(a, b);
    case CODE_EXTENT_SUBTRACT: return difference(a, b);
    case CODE_EXTENT_MULTIPLY: return product(a, b);
    case CODE_EXTENT_DIVIDE: return quotient(a, b);
    case CODE_EXTENT_REMAINDER: return remainder_of(a, b);
    case CODE_EXTENT_SMALLER: return between(smaller(a.low, b.low), smaller(a.high, b.high));
    case CODE_EXTENT_LARGER: return between(larger(a.low, b.low), larger(a.high, b.high));
    default: return limited(step, a, b);
    }
}

static struct extent of_one(const struct code_extent_step *step, struct extent a)
{
    switch (step->kind) {
    case CODE_EXTENT_SHIFT: return shifted(a, step);
    case CODE_EXTENT_BITS_OF: return bits_of(a, step->value);
    case CODE_EXTENT_WITH: return with_bits(a, step->value);
    case CODE_EXTENT_SIGNED: return moved_into(a, INT32_MIN, INT32_MAX);
    default: return as_unsigned(a, step->bits);
    }
}

static void do_step(const struct doing *doing, unsigned number)
{
    const struct code_extent_step *step = &doing->step[number];
    struct extent *at = doing->at, a;
    switch (step->kind) {
    case CODE_EXTENT_NUMBER: at[number] = between(step->value, step->value); return;
    case CODE_EXTENT_PARAMETER: at[number] = parameter(doing, step); return;
    case CODE_EXTENT_SIZE: at[number] = size_of(doing->launch, step->a); return;
    case CODE_EXTENT_JOIN: at[number] = joined(at[step->a], at[step->b]); return;
    case CODE_EXTENT_LOOP: do_loop(doing, number); return;
    case CODE_EXTENT_ACCESS: access(doing, step); return;
    default: break;
    }
    a = at[step->a];
    if (step->kind >= CODE_EXTENT_SHIFT && step->kind <= CODE_EXTENT_UNSIGNED)
        at[number] = is_none(a) ? EXTENTS_NONE : of_one(step, a);
    else
        at[number] = is_none(a) || is_none(at[step->b]) ? EXTENTS_NONE : of_two(step, a, at[step->b]);
}

static void do_steps(const struct doing *doing, unsigned from, unsigned end)
{
    for (unsigned i = from; i < end; i++) {
        do_step(doing, i);
        if (doing->step[i].kind == CODE_EXTENT_LOOP)
            i = (unsigned)doing->step[i].value;
    }
}

void extents_of(const struct code_extent_step *step, unsigned count, const struct extents_launch *launch, struct extent *of)
{
    struct extent at[CODE_EXTENT_STEPS];
    const struct doing doing = {step, launch, of, at};
    do_steps(&doing, 0, count <= CODE_EXTENT_STEPS ? count : CODE_EXTENT_STEPS);
}
