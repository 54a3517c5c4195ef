/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on bits: logic, shifts, fields, permutations, counts. Called by ptx_families.c's table.
 */
#include "tests/sim/ptx_body.h"

/* Those of all widths at once: what is above the type's width is never read. */
STEP(step_and)
{
    SLOT(d) = SLOT(a) & SLOT(b);
    return i + 1;
}
STEP(step_or)
{
    SLOT(d) = SLOT(a) | SLOT(b);
    return i + 1;
}
STEP(step_xor)
{
    SLOT(d) = SLOT(a) ^ SLOT(b);
    return i + 1;
}
STEP(step_not)
{
    SLOT(d) = ~SLOT(a);
    return i + 1;
}
STEP(step_not_predicate)
{
    SLOT(d) = !SLOT(a);
    return i + 1;
}

/* A shift by the width or more leaves nothing but the sign. */
#define SHIFTS(id, T) \
    STEP(left_##id) \
    { \
        const uint32_t by = (uint32_t)SLOT(b); \
        SLOT(d) = by < sizeof(T) * 8 ? (uint64_t)(T)((uint64_t)(T)SLOT(a) << by) : 0; \
        return i + 1; \
    } \
    STEP(right_##id) \
    { \
        const uint32_t by = (uint32_t)SLOT(b), most = (uint32_t)sizeof(T) * 8 - 1; \
        const T a = (T)SLOT(a); \
        SLOT(d) = by <= most ? (uint64_t)(T)(a >> by) : a < 1 && a != 0 ? UINT64_MAX : 0; \
        return i + 1; \
    }
INTEGER_TYPES(SHIFTS)

#define OF(name, id) [TYPE_##id] = name##_##id,
#define ALL(name) \
    { \
        OF(name, U16) OF(name, U32) OF(name, U64) OF(name, S16) OF(name, S32) OF(name, S64) \
    }
static const ptx_step left_steps[TYPE_COUNT] = ALL(left), right_steps[TYPE_COUNT] = ALL(right);

STEP(step_count_32)
{
    SLOT(d) = (uint64_t)__builtin_popcount((uint32_t)SLOT(a));
    return i + 1;
}
STEP(step_count_64)
{
    SLOT(d) = (uint64_t)__builtin_popcountll(SLOT(a));
    return i + 1;
}
STEP(step_leading_32)
{
    const uint32_t a = (uint32_t)SLOT(a);
    SLOT(d) = a ? (uint64_t)__builtin_clz(a) : 32;
    return i + 1;
}
STEP(step_leading_64)
{
    SLOT(d) = SLOT(a) ? (uint64_t)__builtin_clzll(SLOT(a)) : 64;
    return i + 1;
}
/* v[0]: the width. */
STEP(step_reverse)
{
    uint64_t to = 0;
    for (uint32_t n = 0; n < i->v[0]; n++)
        to |= (SLOT(a) >> n & 1) << (i->v[0] - 1 - n);
    SLOT(d) = to;
    return i + 1;
}
/* Where the highest bit is that differs from the sign. */
STEP(step_find)
{
    const unsigned width = i->v[0];
    uint64_t a = width == 32 ? i->flags & PTX_SIGNED ? (uint64_t)(int32_t)SLOT(a) : (uint32_t)SLOT(a) : SLOT(a);
    if (i->flags & PTX_SIGNED && a >> 63)
        a = ~a;
    SLOT(d) = a ? (uint64_t)(63 - __builtin_clzll(a)) : UINT32_MAX;
    return i + 1;
}

/* The field of c bits from bit b. */
STEP(step_extract)
{
    const uint32_t width = i->v[0], from = (uint32_t)SLOT(b) & 255, length = (uint32_t)SLOT(c) & 255;
    const uint64_t a = width == 32 ? (uint32_t)SLOT(a) : SLOT(a);
    uint32_t last = from + length - 1 < width - 1 ? from + length - 1 : width - 1;
    bool sign = length && i->flags & PTX_SIGNED && (a >> last & 1);
    uint64_t mask = length >= 64 ? UINT64_MAX : (1ull << length) - 1, field = from < width ? a >> from : 0;
    uint64_t known = from < width ? width - from : 0;
    if (sign && known < 64)
        field |= ~0ull << known;
    field &= mask;
    if (sign && length < 64)
        field |= ~mask;
    SLOT(d) = width == 32 ? (uint32_t)field : field;
    return i + 1;
}
/* a as the field of v[1] bits from bit c in b. */
STEP(step_insert)
{
    const uint32_t width = i->v[0], from = (uint32_t)SLOT(c) & 255, length = (uint32_t)SLOT(v[1]) & 255;
    uint64_t mask = length >= 64 ? UINT64_MAX : (1ull << length) - 1;
    mask = from < width ? mask << from : 0;
    const uint64_t moved = from < width ? SLOT(a) << from : 0;
    SLOT(d) = (SLOT(b) & ~mask) | (moved & mask);
    return i + 1;
}
STEP(step_permute)
{
    const uint64_t both = (uint32_t)SLOT(a) | SLOT(b) << 32;
    uint64_t to = 0;
    for (unsigned n = 0; n < 4; n++) {
        unsigned which = (unsigned)(SLOT(c) >> (4 * n)) & 15;
        uint64_t byte = both >> (8 * (which & 7)) & 255;
        if (which & 8)
            byte = byte & 128 ? 255 : 0;
        to |= byte << (8 * n);
    }
    SLOT(d) = to;
    return i + 1;
}
/* v[0]: the table of results. */
STEP(step_logic)
{
    const uint32_t a = (uint32_t)SLOT(a), b = (uint32_t)SLOT(b), c = (uint32_t)SLOT(c);
    uint32_t to = 0;
    for (unsigned n = 0; n < 8; n++)
        if (i->v[0] >> n & 1)
            to |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    SLOT(d) = to;
    return i + 1;
}
/* v[0]: to the left; v[1]: at most by 32, not modulo 32. */
STEP(step_funnel)
{
    const uint64_t both = (uint32_t)SLOT(a) | SLOT(b) << 32;
    uint32_t by = (uint32_t)SLOT(c);
    by = !i->v[1] ? by & 31 : by < 32 ? by : 32;
    SLOT(d) = (uint32_t)(i->v[0] ? by ? both >> (32 - by) : both >> 32 : both >> by);
    return i + 1;
}

static struct ptx_instruction *three(struct body *b, struct statement *s, ptx_step step, enum ptx_type type,
                                     const enum ptx_type types[3])
{
    uint32_t slots[3] = {0, 0, 0};
    unsigned count = s->operand_count - 1;
    for (unsigned n = 0; n < count && n < 3; n++)
        slots[n] = source(b, &s->operands[n + 1], types ? types[n] : type);
    uint32_t d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, step);
    i->d = d, i->a = slots[0], i->b = slots[1], i->c = slots[2];
    i->v[0] = (uint32_t)type_size(type) * 8;
    if (type == TYPE_S32 || type == TYPE_S64)
        i->flags |= PTX_SIGNED;
    return i;
}

static bool operands(struct body *b, const struct statement *s, unsigned count)
{
    if (s->operand_count != count)
        fail(b, "operands");
    return s->operand_count == count;
}

static void insert(struct body *b, struct statement *s, enum ptx_type type)
{
    if (!operands(b, s, 5))
        return;
    const enum ptx_type types[3] = {type, type, TYPE_U32};
    uint32_t length = source(b, &s->operands[4], TYPE_U32);
    s->operand_count = 4;
    three(b, s, step_insert, type, types)->v[1] = length;
}

static void logic(struct body *b, struct statement *s)
{
    int64_t table = 0;
    if (!operands(b, s, 5))
        return;
    if (!token_number(&s->operands[4].token, &table))
        fail(b, "a table");
    s->operand_count = 4;
    three(b, s, step_logic, TYPE_U32, NULL)->v[0] = (uint32_t)table;
}

static void funnel(struct body *b, struct statement *s)
{
    int direction = TAKE_ONE(s, "l", "r"), mode = TAKE_ONE(s, "wrap", "clamp");
    if (direction < 0 || mode < 0)
        fail(b, "a shift");
    if (!operands(b, s, 4))
        return;
    struct ptx_instruction *i = three(b, s, step_funnel, TYPE_U32, NULL);
    i->v[0] = direction == 0;
    i->v[1] = mode == 1;
}

static void simple(struct body *b, struct statement *s, enum ptx_type type)
{
    const bool wide = type_size(type) == 8;
    const struct {
        const char *opcode;
        unsigned operands;
        ptx_step step;
        enum ptx_type second;
    } all[] = {{"and", 3, step_and, type},
               {"or", 3, step_or, type},
               {"xor", 3, step_xor, type},
               {"not", 2, type == TYPE_PREDICATE ? step_not_predicate : step_not, type},
               {"shl", 3, left_steps[type], TYPE_U32},
               {"shr", 3, right_steps[type], TYPE_U32},
               {"popc", 2, wide ? step_count_64 : step_count_32, type},
               {"clz", 2, wide ? step_leading_64 : step_leading_32, type},
               {"brev", 2, step_reverse, type},
               {"bfind", 2, step_find, type},
               {"bfe", 4, step_extract, TYPE_U32},
               {"prmt", 4, step_permute, type}};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        if (!token_is(&s->parts[0], all[n].opcode))
            continue;
        const enum ptx_type types[3] = {type, all[n].second, all[n].second};
        if (!all[n].step)
            fail(b, "a type");
        if (operands(b, s, all[n].operands) && all[n].step)
            three(b, s, all[n].step, type, types);
        return;
    }
    fail(b, "an opcode");
}

void family_bits(struct body *b, struct statement *s)
{
    enum ptx_type type = take_type(s);
    if (type == TYPE_NONE || type == TYPE_F32 || type == TYPE_F64)
        fail(b, "a type");
    else if (token_is(&s->parts[0], "bfi"))
        insert(b, s, type);
    else if (token_is(&s->parts[0], "lop3"))
        logic(b, s);
    else if (token_is(&s->parts[0], "shf"))
        funnel(b, s);
    else
        simple(b, s, type);
}
