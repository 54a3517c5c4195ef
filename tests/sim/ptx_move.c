/* SPDX-License-Identifier: Apache-2.0
 *
 * mov with its packing forms, addresses between spaces, and the special registers. Called by ptx_families.c's table and,
 * for special registers, whenever a frame begins.
 */
#include "tests/sim/ptx_body.h"
#include "tests/sim/sim.h"

STEP(step_move)
{
    SLOT(d) = SLOT(a);
    return i + 1;
}

/* v: the slots of `count` parts, each of `size` bytes, the first in the lowest bits. */
STEP(step_pack)
{
    uint64_t value = 0;
    for (unsigned n = 0; n < i->count; n++)
        value |= (t->slots[i->v[n]] & (UINT64_MAX >> (64 - 8 * i->size))) << (8 * i->size * n);
    SLOT(d) = value;
    return i + 1;
}
STEP(step_unpack)
{
    const uint64_t value = SLOT(a);
    for (unsigned n = 0; n < i->count; n++)
        t->slots[i->v[n]] = value >> (8 * i->size * n) & (UINT64_MAX >> (64 - 8 * i->size));
    return i + 1;
}

static uint64_t window_of(unsigned space)
{
    return space == SPACE_SHARED  ? PTX_WINDOW_SHARED
           : space == SPACE_LOCAL ? PTX_WINDOW_LOCAL
           : space == SPACE_PARAM ? PTX_WINDOW_PARAM
                                  : 0;
}

STEP(step_to_generic)
{
    SLOT(d) = SLOT(a) + window_of(i->space);
    return i + 1;
}
STEP(step_from_generic)
{
    SLOT(d) = SLOT(a) - window_of(i->space);
    return i + 1;
}
STEP(step_is_in_space)
{
    SLOT(d) = PTX_WINDOW_OF(SLOT(a)) == window_of(i->space);
    return i + 1;
}

/* ---- special registers ---- */

enum special {
    TID_X,
    TID_Y,
    TID_Z,
    NTID_X,
    NTID_Y,
    NTID_Z,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    NCTAID_X,
    NCTAID_Y,
    NCTAID_Z,
    LANEID,
    WARPID,
    NWARPID,
    LANEMASK_EQ,
    LANEMASK_LT,
    SMID,
    NSMID,
    GRIDID,
    DYNAMIC_SMEM,
    CLOCK,
    CLOCK_HI,
    CLOCK64,
    GLOBALTIMER,
    GLOBALTIMER_LO,
    GLOBALTIMER_HI
};

static const char *const names[] = {
    "%tid.x",   "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",         "%ntid.z",        "%ctaid.x",
    "%ctaid.y", "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",       "%laneid",        "%warpid",
    "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%smid",        "%nsmid",          "%gridid",        "%dynamic_smem_size",
    "%clock",   "%clock_hi",    "%clock64",     "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};

int special_of(const struct token *token)
{
    for (size_t n = 0; n < COUNT_OF(names); n++)
        if (token_is(token, names[n]))
            return (int)n;
    return -1;
}

bool special_ticks(uint32_t special)
{
    return special >= CLOCK;
}

uint64_t special_value(const struct ptx_thread *t, uint32_t special)
{
    const struct kernel_work *k = t->grid->work;
    const uint64_t now = special_ticks(special) ? sim_now_ns() : 0;
    if (special < NTID_X)
        return t->id[special - TID_X];
    if (special < CTAID_X)
        return k->block[special - NTID_X];
    if (special < NCTAID_X)
        return t->block->id[special - CTAID_X];
    if (special < LANEID)
        return k->grid[special - NCTAID_X];
    switch (special) {
    case LANEID: return t->number % 32;
    case WARPID: return t->number / 32;
    case NWARPID: return (k->block[0] * k->block[1] * k->block[2] + 31) / 32;
    case LANEMASK_EQ: return 1ull << t->number % 32;
    case LANEMASK_LT: return (1ull << t->number % 32) - 1;
    case NSMID: return 1;
    case DYNAMIC_SMEM: return k->shared;
    case CLOCK:
    case GLOBALTIMER_LO: return (uint32_t)now;
    case CLOCK_HI:
    case GLOBALTIMER_HI: return now >> 32;
    case CLOCK64:
    case GLOBALTIMER: return now;
    default: return 0;
    }
}

const struct ptx_instruction *step_special(struct ptx_thread *t, const struct ptx_instruction *i)
{
    t->timed = true;
    SLOT(d) = special_value(t, i->a);
    return i + 1;
}

/* ---- the families ---- */

static unsigned space_taken(struct statement *s)
{
    static const unsigned spaces[] = {SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_SHARED,
                                      SPACE_LOCAL,  SPACE_PARAM, SPACE_PARAM};
    int n = TAKE_ONE(s, "global", "const", "shared", "shared::cta", "local", "param", "param::entry");
    return n < 0 ? SPACE_GENERIC : spaces[n];
}

static void convert_address(struct body *b, struct statement *s)
{
    bool to = take(s, "to");
    unsigned space = space_taken(s);
    if (take_type(s) != TYPE_U64 || space == SPACE_GENERIC || s->operand_count != 2) {
        fail(b, "an address");
        return;
    }
    uint32_t x = source(b, &s->operands[1], TYPE_U64), d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, window_of(space) == 0 ? step_move : to ? step_from_generic : step_to_generic);
    i->d = d, i->a = x, i->space = (uint8_t)space;
}

static void ask_space(struct body *b, struct statement *s)
{
    unsigned space = space_taken(s);
    if (space == SPACE_GENERIC || s->operand_count != 2) {
        fail(b, "an address");
        return;
    }
    uint32_t x = source(b, &s->operands[1], TYPE_U64), d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, step_is_in_space);
    i->d = d, i->a = x, i->space = (uint8_t)space;
}

static bool parts_of(struct body *b, const struct operand *list, enum ptx_type type, uint8_t *size)
{
    if ((list->count != 2 && list->count != 4) || type_size(type) / list->count == 0) {
        fail(b, "parts");
        return false;
    }
    *size = (uint8_t)(type_size(type) / list->count);
    return true;
}

static void pack(struct body *b, struct statement *s, enum ptx_type type)
{
    const struct operand *list = &s->operands[1];
    uint32_t v[4] = {0};
    uint8_t size;
    if (!parts_of(b, list, type, &size))
        return;
    for (unsigned n = 0; n < list->count; n++)
        v[n] = source_token(b, &list->list[n], list->list_negative[n], TYPE_U64);
    uint32_t d = destination(b, &s->operands[0]);
    struct ptx_instruction *i = emit(b, step_pack);
    i->d = d, i->size = size, i->count = (uint8_t)list->count;
    memcpy(i->v, v, sizeof v);
}

static void unpack(struct body *b, struct statement *s, enum ptx_type type)
{
    const struct operand *list = &s->operands[0];
    uint32_t v[4] = {0};
    uint8_t size;
    if (!parts_of(b, list, type, &size))
        return;
    for (unsigned n = 0; n < list->count; n++)
        v[n] = destination_token(b, &list->list[n]);
    uint32_t x = source(b, &s->operands[1], type);
    struct ptx_instruction *i = emit(b, step_unpack);
    i->a = x, i->size = size, i->count = (uint8_t)list->count;
    memcpy(i->v, v, sizeof v);
}

void family_move(struct body *b, struct statement *s)
{
    if (token_is(&s->parts[0], "cvta")) {
        convert_address(b, s);
        return;
    }
    if (token_is(&s->parts[0], "isspacep")) {
        ask_space(b, s);
        return;
    }
    enum ptx_type type = take_type(s);
    if (type == TYPE_NONE || s->operand_count != 2) {
        fail(b, "operands");
    } else if (s->operands[1].kind == OPERAND_LIST) {
        pack(b, s, type);
    } else if (s->operands[0].kind == OPERAND_LIST) {
        unpack(b, s, type);
    } else {
        uint32_t x = source(b, &s->operands[1], type), d = destination(b, &s->operands[0]);
        struct ptx_instruction *i = emit(b, step_move);
        i->d = d, i->a = x;
    }
}
