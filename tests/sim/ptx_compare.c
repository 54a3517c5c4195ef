/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons, and choices by a predicate: setp, set, selp, slct. Called by ptx_families.c's table.
 */
#include <math.h>

#include "tests/sim/ptx_body.h"

#define COMPARES(name, id, T, get, sign) \
    STEP(name##_##id) \
    { \
        SLOT(d) = get(SLOT(a)) sign get(SLOT(b)); \
        return i + 1; \
    }
#define AS_IS(id, T) \
    COMPARES(eq, id, T, (T), ==) \
    COMPARES(ne, id, T, (T), !=) \
    COMPARES(lt, id, T, (T), <) \
    COMPARES(le, id, T, (T), <=) \
    COMPARES(gt, id, T, (T), >) \
    COMPARES(ge, id, T, (T), >=)
INTEGER_TYPES(AS_IS)

/* Of floats: whether both are numbers, then the comparison; the "u" forms hold where one is none. */
#define OF_FLOATS(id, T, get) \
    COMPARES(eq, id, T, get, ==) \
    COMPARES(lt, id, T, get, <) \
    COMPARES(le, id, T, get, <=) \
    COMPARES(gt, id, T, get, >) \
    COMPARES(ge, id, T, get, >=) \
    STEP(num_##id) \
    { \
        SLOT(d) = !isnan(get(SLOT(a))) && !isnan(get(SLOT(b))); \
        return i + 1; \
    } \
    STEP(ne_##id) \
    { \
        const T a = get(SLOT(a)), b = get(SLOT(b)); \
        SLOT(d) = a < b || a > b; \
        return i + 1; \
    }
OF_FLOATS(F32, float, float_of)
OF_FLOATS(F64, double, double_of)

STEP(step_negate)
{
    SLOT(d) = !SLOT(a);
    return i + 1;
}
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
STEP(step_select)
{
    SLOT(d) = SLOT(c) ? SLOT(a) : SLOT(b);
    return i + 1;
}
STEP(step_select_sign)
{
    SLOT(d) = (int32_t)SLOT(c) >= 0 ? SLOT(a) : SLOT(b);
    return i + 1;
}

#define OF(name, id) [TYPE_##id] = name##_##id,
#define INTEGERS(name) OF(name, U16) OF(name, U32) OF(name, U64) OF(name, S16) OF(name, S32) OF(name, S64)
#define FLOATS(name) OF(name, F32) OF(name, F64)
static const struct {
    const char *name;
    bool negated; /* the step says the opposite */
    ptx_step steps[TYPE_COUNT];
} comparisons[] = {
    {"eq", false, {INTEGERS(eq) FLOATS(eq)}},
    {"ne", false, {INTEGERS(ne) FLOATS(ne)}},
    {"lt", false, {INTEGERS(lt) FLOATS(lt)}},
    {"le", false, {INTEGERS(le) FLOATS(le)}},
    {"gt", false, {INTEGERS(gt) FLOATS(gt)}},
    {"ge", false, {INTEGERS(ge) FLOATS(ge)}},
    {"lo", false, {INTEGERS(lt)}},
    {"ls", false, {INTEGERS(le)}},
    {"hi", false, {INTEGERS(gt)}},
    {"hs", false, {INTEGERS(ge)}},
    {"equ", true, {FLOATS(ne)}},
    {"neu", true, {FLOATS(eq)}},
    {"ltu", true, {FLOATS(ge)}},
    {"leu", true, {FLOATS(gt)}},
    {"gtu", true, {FLOATS(le)}},
    {"geu", true, {FLOATS(lt)}},
    {"num", false, {FLOATS(num)}},
    {"nan", true, {FLOATS(num)}},
};

static void unary(struct body *b, ptx_step step, uint32_t d, uint32_t x)
{
    struct ptx_instruction *i = emit(b, step);
    i->d = d, i->a = x;
}

/* The comparison alone, into d. */
static void compare(struct body *b, struct statement *s, enum ptx_type type, uint32_t d)
{
    for (size_t n = 0; n < sizeof comparisons / sizeof *comparisons; n++) {
        if (!take(s, comparisons[n].name))
            continue;
        ptx_step step = comparisons[n].steps[type];
        uint32_t x = source(b, &s->operands[1], type), y = source(b, &s->operands[2], type);
        if (!step)
            fail(b, "a type");
        struct ptx_instruction *i = emit(b, step);
        i->d = d, i->a = x, i->b = y;
        i->size = (uint8_t)type_size(type);
        if (type < TYPE_F32)
            i->flags |= PTX_COMPARES;
        if (comparisons[n].negated)
            unary(b, step_negate, d, d);
        return;
    }
    fail(b, "a comparison");
}

static void combine(struct body *b, int how, uint32_t d, uint32_t x, uint32_t y)
{
    static const ptx_step steps[] = {step_and, step_or, step_xor};
    struct ptx_instruction *i = emit(b, steps[how]);
    i->d = d, i->a = x, i->b = y;
}

/* setp.lt.and.s32 p|q, a, b, r: q is of the opposite comparison. */
static void set_predicate(struct body *b, struct statement *s)
{
    int how = TAKE_ONE(s, "and", "or", "xor");
    take(s, "ftz");
    enum ptx_type type = take_type(s);
    struct operand first = s->operands[0];
    if (type >= TYPE_PREDICATE || s->operand_count != 3u + (how >= 0)) {
        fail(b, "operands");
        return;
    }
    uint32_t with = how >= 0 ? source(b, &s->operands[3], TYPE_PREDICATE) : 0;
    uint32_t p = destination_token(b, &first.token);
    if (how < 0 && !first.second.length) {
        compare(b, s, type, p);
        return;
    }
    uint32_t result = slot_new(b), opposite = slot_new(b);
    compare(b, s, type, result);
    unary(b, step_negate, opposite, result);
    uint32_t q = first.second.length ? destination_token(b, &first.second) : 0, always = slot_constant(b, 1);
    uint32_t kept = how < 0 ? always : slot_new(b); /* p may be the one that it is combined with */
    if (how >= 0)
        combine(b, 1, kept, with, with);
    combine(b, how < 0 ? 0 : how, p, result, kept);
    combine(b, how < 0 ? 0 : how, q, opposite, kept);
}

/* set.lt.u32.s32 d, a, b: all ones, or 1.0f. */
static void set_value(struct body *b, struct statement *s)
{
    take(s, "ftz");
    enum ptx_type to = take_type(s), type = take_type(s);
    if (type >= TYPE_PREDICATE || s->operand_count != 3 || type_size(to) != 4) {
        fail(b, "operands");
        return;
    }
    uint32_t result = slot_new(b), d = destination(b, &s->operands[0]);
    uint32_t yes = slot_constant(b, to == TYPE_F32 ? of_float(1) : UINT32_MAX), no = slot_constant(b, 0);
    compare(b, s, type, result);
    struct ptx_instruction *i = emit(b, step_select);
    i->d = d, i->a = yes, i->b = no, i->c = result;
}

static void choose(struct body *b, struct statement *s, bool by_sign)
{
    enum ptx_type type = take_type(s), by = by_sign ? take_type(s) : TYPE_PREDICATE;
    if (type == TYPE_NONE || s->operand_count != 4 || (by_sign && by != TYPE_S32)) {
        fail(b, "operands");
        return;
    }
    uint32_t x = source(b, &s->operands[1], type), y = source(b, &s->operands[2], type), z = source(b, &s->operands[3], by),
             d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, by_sign ? step_select_sign : step_select);
    i->d = d, i->a = x, i->b = y, i->c = z;
}

void family_compare(struct body *b, struct statement *s)
{
    if (token_is(&s->parts[0], "setp"))
        set_predicate(b, s);
    else if (token_is(&s->parts[0], "set"))
        set_value(b, s);
    else
        choose(b, s, token_is(&s->parts[0], "slct"));
}
