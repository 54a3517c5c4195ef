/* SPDX-License-Identifier: Apache-2.0
 *
 * cvt: between integers, floats and doubles. Called by ptx_families.c's table. A float that no integer of the type is near
 * enough to becomes the nearest one; no number becomes 0.
 */
#include <math.h>

#include "tests/sim/ptx_body.h"

/* The value of a slot as one of `bits` bits. */
static uint64_t cut(uint64_t value, unsigned bits, bool is_signed)
{
    if (bits == 64)
        return value;
    uint64_t mask = (1ull << bits) - 1, sign = 1ull << (bits - 1);
    value &= mask;
    return is_signed && value & sign ? value | ~mask : value;
}

/* v: bits and sign of the source, then of the destination. */
STEP(step_whole)
{
    SLOT(d) = cut(cut(SLOT(a), i->v[0], i->v[1]), i->v[2], i->v[3]);
    return i + 1;
}

/* The same, to the nearest that there is. */
STEP(step_whole_saturated)
{
    uint64_t value = cut(SLOT(a), i->v[0], i->v[1]);
    const bool negative = i->v[1] && value >> 63;
    uint64_t most = i->v[3] ? (1ull << (i->v[2] - 1)) - 1 : i->v[2] == 64 ? UINT64_MAX : (1ull << i->v[2]) - 1;
    uint64_t least = i->v[3] ? ~most : 0;
    if (negative)
        value = !i->v[3] || (int64_t)value < (int64_t)least ? least : value;
    else if (value > most)
        value = most;
    SLOT(d) = cut(value, i->v[2], i->v[3]);
    return i + 1;
}

#define FROM_WHOLE(name, T, put) \
    STEP(name) \
    { \
        uint64_t value = cut(SLOT(a), i->v[0], i->v[1]); \
        SLOT(d) = put(i->v[1] ? (T)(int64_t)value : (T)value); \
        return i + 1; \
    }
FROM_WHOLE(step_float_from_whole, float, of_float)
FROM_WHOLE(step_double_from_whole, double, of_double)

enum { TO_EVEN, TO_ZERO, DOWN, UP };

static double rounded(double value, unsigned how)
{
    switch (how) {
    case TO_EVEN: return nearbyint(value);
    case TO_ZERO: return trunc(value);
    case DOWN: return floor(value);
    default: return ceil(value);
    }
}

static uint64_t nearest(double value, unsigned bits, bool is_signed)
{
    const double above = ldexp(1, (int)(is_signed ? bits - 1 : bits)), least = is_signed ? -above : 0;
    if (isnan(value))
        return 0;
    if (value >= above)
        return is_signed ? (1ull << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (value <= least)
        return is_signed ? ~((1ull << (bits - 1)) - 1) : 0;
    return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

/* offset: how to round. */
STEP(step_whole_from_float)
{
    SLOT(d) = nearest(rounded((double)float_of(SLOT(a)), (unsigned)i->offset), i->v[2], i->v[3]);
    return i + 1;
}
STEP(step_whole_from_double)
{
    SLOT(d) = nearest(rounded(double_of(SLOT(a)), (unsigned)i->offset), i->v[2], i->v[3]);
    return i + 1;
}
STEP(step_double_from_float)
{
    SLOT(d) = of_double((double)float_of(SLOT(a)));
    return i + 1;
}
STEP(step_float_from_double)
{
    SLOT(d) = of_float((float)double_of(SLOT(a)));
    return i + 1;
}
STEP(step_float_rounded)
{
    SLOT(d) = of_float((float)rounded((double)float_of(SLOT(a)), (unsigned)i->offset));
    return i + 1;
}
STEP(step_double_rounded)
{
    SLOT(d) = of_double(rounded(double_of(SLOT(a)), (unsigned)i->offset));
    return i + 1;
}
STEP(step_same)
{
    SLOT(d) = SLOT(a);
    return i + 1;
}

static bool is_float(enum ptx_type type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

static bool is_signed(enum ptx_type type)
{
    return type >= TYPE_S8 && type <= TYPE_S64;
}

static ptx_step step_between(enum ptx_type to, enum ptx_type from, int whole, bool saturated)
{
    if (!is_float(to) && !is_float(from))
        return saturated ? step_whole_saturated : step_whole;
    if (!is_float(from))
        return to == TYPE_F32 ? step_float_from_whole : step_double_from_whole;
    if (!is_float(to))
        return from == TYPE_F32 ? step_whole_from_float : step_whole_from_double;
    if (to != from)
        return whole >= 0 ? NULL : to == TYPE_F64 ? step_double_from_float : step_float_from_double;
    return whole < 0 ? step_same : to == TYPE_F32 ? step_float_rounded : step_double_rounded;
}

void family_convert(struct body *b, struct statement *s)
{
    int whole = TAKE_ONE(s, "rni", "rzi", "rmi", "rpi");
    bool saturated = take(s, "sat");
    take(s, "rn");
    take(s, "ftz");
    enum ptx_type to = take_type(s), from = take_type(s);
    if (to >= TYPE_PREDICATE || from >= TYPE_PREDICATE || s->operand_count != 2 || (saturated && is_float(to))) {
        fail(b, "a conversion");
        return;
    }
    ptx_step step = step_between(to, from, whole, saturated);
    if (!step || (is_float(from) && !is_float(to) && whole < 0))
        fail(b, "a conversion");
    uint32_t x = source(b, &s->operands[1], from), d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, step);
    i->d = d, i->a = x, i->offset = whole < 0 ? TO_EVEN : whole;
    i->v[0] = (uint32_t)type_size(from) * 8, i->v[1] = is_signed(from);
    i->v[2] = (uint32_t)type_size(to) * 8, i->v[3] = is_signed(to);
}
