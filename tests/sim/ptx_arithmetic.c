/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of integers: steps by operation and type, and how an opcode chooses one. Called by ptx_families.c's table;
 * hands what is of floating point to ptx_float.c. Everything wraps; a division by zero gives all ones, as on a GPU.
 */
#include "tests/sim/ptx_body.h"

/* T is the type in both; the expression is of 64 bits and is cut to T, whose sign then fills the slot. */
#define OPERATION(name, T, id, expression) \
    STEP(name##_##id) \
    { \
        const T a = (T)SLOT(a), b = (T)SLOT(b); \
        SLOT(d) = (uint64_t)(T)(expression); \
        return i + 1; \
    }
#define OF(name, id) [TYPE_##id] = name##_##id,
#define ALL(name) \
    { \
        OF(name, U16) OF(name, U32) OF(name, U64) OF(name, S16) OF(name, S32) OF(name, S64) \
    }

#define STEPS(id, T) \
    OPERATION(add, T, id, (uint64_t)a + (uint64_t)b) \
    OPERATION(sub, T, id, (uint64_t)a - (uint64_t)b) \
    OPERATION(low, T, id, (uint64_t)a *(uint64_t)b) \
    OPERATION(quotient, T, id, b == 0 ? UINT64_MAX : b == (T)-1 && (T)-1 < 1 ? 0 - (uint64_t)a : (uint64_t)(a / b)) \
    OPERATION(remainder, T, id, b == 0 ? (uint64_t)a : b == (T)-1 && (T)-1 < 1 ? 0 : (uint64_t)(a % b)) \
    OPERATION(smaller, T, id, a < b ? a : b) \
    OPERATION(larger, T, id, a > b ? a : b) \
    OPERATION(negated, T, id, 0 - (uint64_t)a + 0 * (uint64_t)b) \
    OPERATION(absolute, T, id, a < 1 ? 0 - (uint64_t)a + 0 * (uint64_t)b : (uint64_t)a)
INTEGER_TYPES(STEPS)

/* The upper half of the product; W holds all of it. */
#define HIGH(id, T, W, bits) OPERATION(high, T, id, (uint64_t)(((W)a * (W)b) >> (bits)))
HIGH(U16, uint16_t, uint32_t, 16)
HIGH(S16, int16_t, int32_t, 16)
HIGH(U32, uint32_t, uint64_t, 32)
HIGH(S32, int32_t, int64_t, 32)
__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;
HIGH(U64, uint64_t, uint128, 64)
HIGH(S64, int64_t, int128, 64)

#define WIDE(id, T, W) \
    STEP(wide_##id) \
    { \
        SLOT(d) = (uint64_t)((W)(T)SLOT(a) * (W)(T)SLOT(b)); \
        return i + 1; \
    }
WIDE(U16, uint16_t, uint32_t)
WIDE(S16, int16_t, int32_t)
WIDE(U32, uint32_t, uint64_t)
WIDE(S32, int32_t, int64_t)

STEP(step_mad_low_32)
{
    SLOT(d) = (uint32_t)((uint32_t)SLOT(a) * (uint32_t)SLOT(b) + (uint32_t)SLOT(c));
    return i + 1;
}

struct row {
    const char *opcode;
    unsigned operands;
    ptx_step steps[TYPE_COUNT];
};
static const struct row rows[] = {
    {"add", 2, ALL(add)},      {"sub", 2, ALL(sub)},       {"mul", 2, ALL(low)},
    {"div", 2, ALL(quotient)}, {"rem", 2, ALL(remainder)}, {"min", 2, ALL(smaller)},
    {"max", 2, ALL(larger)},   {"neg", 1, ALL(negated)},   {"abs", 1, ALL(absolute)},
};
static const ptx_step high_steps[TYPE_COUNT] = ALL(high);
static const ptx_step wide_steps[TYPE_COUNT] = {OF(wide, U16) OF(wide, S16) OF(wide, U32) OF(wide, S32)};
static const ptx_step low_steps[TYPE_COUNT] = ALL(low);
static const ptx_step add_steps[TYPE_COUNT] = ALL(add);

static struct ptx_instruction *binary(struct body *b, ptx_step step, uint32_t d, uint32_t x, uint32_t y)
{
    if (!step)
        fail(b, "a type");
    struct ptx_instruction *i = emit(b, step);
    i->d = d, i->a = x, i->b = y;
    return i;
}

static enum ptx_type twice(enum ptx_type type)
{
    switch (type) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    case TYPE_S32: return TYPE_S64;
    default: return TYPE_NONE;
    }
}

/* mul and mad: .lo, .hi or .wide. */
static void multiply(struct body *b, struct statement *s, enum ptx_type type, bool adds)
{
    static const ptx_step *const parts[] = {low_steps, high_steps, wide_steps};
    int part = TAKE_ONE(s, "lo", "hi", "wide");
    if (part < 0 || s->operand_count != 3u + adds) {
        fail(b, "a product");
        return;
    }
    enum ptx_type result = part == 2 ? twice(type) : type;
    uint32_t x = source(b, &s->operands[1], type), y = source(b, &s->operands[2], type);
    if (!adds) {
        binary(b, parts[part][type], destination(b, &s->operands[0]), x, y);
        return;
    }
    uint32_t z = source(b, &s->operands[3], result), d = destination(b, &s->operands[0]);
    if (part == 0 && type == TYPE_U32) {
        binary(b, step_mad_low_32, d, x, y)->c = z;
        return;
    }
    uint32_t product = slot_new(b);
    binary(b, parts[part][type], product, x, y);
    binary(b, result == TYPE_NONE ? NULL : add_steps[result], d, product, z);
}

void family_arithmetic(struct body *b, struct statement *s)
{
    enum ptx_type type = take_type(s);
    if (type == TYPE_F32 || type == TYPE_F64) {
        for (unsigned i = 1; i < s->part_count; i++)
            if (type_of(s->parts[i].at, s->parts[i].length) == type)
                s->used[i] = false;
        family_float(b, s);
        return;
    }
    bool adds = token_is(&s->parts[0], "mad");
    if (type == TYPE_NONE || type == TYPE_PREDICATE) {
        fail(b, "a type");
        return;
    }
    if (adds || token_is(&s->parts[0], "mul")) {
        multiply(b, s, type, adds);
        return;
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!token_is(&s->parts[0], rows[r].opcode))
            continue;
        if (s->operand_count != rows[r].operands + 1) {
            fail(b, "operands");
            return;
        }
        uint32_t x = source(b, &s->operands[1], type);
        uint32_t y = rows[r].operands == 2 ? source(b, &s->operands[2], type) : 0;
        binary(b, rows[r].steps[type], destination(b, &s->operands[0]), x, y);
        return;
    }
    fail(b, "an opcode");
}
