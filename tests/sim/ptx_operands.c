/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands as slots, and the modifiers of an opcode. Called by the families while a body is read.
 */
#include "tests/sim/ptx_body.h"

STEP(step_negate_predicate)
{
    SLOT(d) = !SLOT(a);
    return i + 1;
}

static uint32_t filled(struct body *b, int from, uint32_t which, int64_t offset)
{
    struct ptx_function *f = b->function;
    for (uint32_t i = 0; i < f->filled_count; i++)
        if ((int)f->filled[i].from == from && f->filled[i].which == which && f->filled[i].offset == offset)
            return f->filled[i].slot;
    uint32_t slot = slot_new(b);
    f->filled = ptx_more(f->filled, f->filled_count, &f->filled_capacity, sizeof *f->filled);
    f->filled[f->filled_count] = (struct ptx_filled){.slot = slot, .which = which, .offset = offset};
    f->filled[f->filled_count++].from = from;
    return slot;
}

static uint32_t of_variable(struct body *b, const struct ptx_variable *v, int64_t offset)
{
    if (v->space == SPACE_SHARED)
        return slot_constant(b, v->offset + (uint64_t)offset);
    if (v->external)
        fail(b, "a variable of another module");
    return filled(b, FILLED_VARIABLE, v->index, offset);
}

static uint32_t of_name(struct body *b, struct name *n, int64_t number, int64_t offset)
{
    switch (n->what) {
    case NAME_REGISTERS:
        if (!n->slots[number])
            n->slots[number] = slot_new(b);
        return n->slots[number];
    case NAME_VARIABLE: return of_variable(b, n->variable, offset);
    case NAME_LOCAL: return filled(b, FILLED_LOCAL, 0, (int64_t)n->offset + offset);
    case NAME_PARAM: return slot_constant(b, n->offset + (uint64_t)offset);
    default: fail(b, "the address of a parameter"); return 0;
    }
}

static uint32_t of_special(struct body *b, int special)
{
    if (!special_ticks((uint32_t)special))
        return filled(b, FILLED_SPECIAL, (uint32_t)special, 0);
    uint32_t slot = slot_new(b);
    struct ptx_instruction *i = emit(b, step_special);
    i->d = slot;
    i->a = (uint32_t)special;
    return slot;
}

static uint32_t of_word(struct body *b, const struct token *token, int64_t offset)
{
    int64_t number;
    struct name *n = name_find(b, token, &number);
    if (n)
        return of_name(b, n, number, offset);
    int special = special_of(token);
    if (special >= 0)
        return of_special(b, special);
    if (token_is(token, "WARP_SZ"))
        return slot_constant(b, 32);
    const struct ptx_variable *v = variable_find(b->text, token);
    if (v)
        return of_variable(b, v, offset);
    const struct ptx_function *f = function_find(b->text, token);
    if (f)
        return slot_constant(b, PTX_WINDOW_CODE | f->index);
    fail(b, "a name");
    return 0;
}

static uint32_t of_number(struct body *b, const struct token *token, bool negative, enum ptx_type type)
{
    uint64_t bits = 0;
    if (!token_bits(token, type, &bits))
        fail(b, "a number");
    if (negative)
        bits = type == TYPE_F64 ? bits ^ 1ull << 63 : type == TYPE_F32 ? bits ^ 1ull << 31 : 0 - bits;
    return slot_constant(b, bits);
}

uint32_t source_token(struct body *b, const struct token *token, bool negative, enum ptx_type type)
{
    if (token->kind == TOKEN_NUMBER)
        return of_number(b, token, negative, type);
    uint32_t slot = token->kind == TOKEN_WORD ? of_word(b, token, 0) : 0;
    if (token->kind != TOKEN_WORD || (negative && type != TYPE_PREDICATE))
        fail(b, "an operand");
    if (!negative)
        return slot;
    uint32_t to = slot_new(b);
    struct ptx_instruction *i = emit(b, step_negate_predicate);
    i->d = to;
    i->a = slot;
    return to;
}

uint32_t source(struct body *b, const struct operand *o, enum ptx_type type)
{
    if (o->kind != OPERAND_PLAIN || o->second.length) {
        fail(b, "an operand");
        return 0;
    }
    if (o->offset && o->token.kind == TOKEN_WORD)
        return of_word(b, &o->token, o->offset);
    return source_token(b, &o->token, o->negative, type);
}

uint32_t destination_token(struct body *b, const struct token *token)
{
    int64_t number;
    if (token_is(token, "_"))
        return 0;
    struct name *n = name_find(b, token, &number);
    if (n && n->what == NAME_REGISTERS)
        return of_name(b, n, number, 0);
    fail(b, "a destination");
    return 0;
}

uint32_t destination(struct body *b, const struct operand *o)
{
    if (o->kind != OPERAND_PLAIN || o->negative)
        fail(b, "a destination");
    return destination_token(b, &o->token);
}

uint32_t address_of(struct body *b, const struct operand *o, int64_t *offset)
{
    *offset = 0;
    if (o->kind != OPERAND_ADDRESS) {
        fail(b, "an address");
        return 0;
    }
    *offset = o->offset;
    return source_token(b, &o->token, false, TYPE_U64);
}

/* ---- modifiers ---- */

bool take(struct statement *s, const char *part)
{
    for (unsigned i = 1; i < s->part_count; i++)
        if (!s->used[i] && token_is(&s->parts[i], part))
            return s->used[i] = true;
    return false;
}

int take_one(struct statement *s, const char *const *parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (take(s, parts[i]))
            return (int)i;
    return -1;
}

enum ptx_type take_type(struct statement *s)
{
    for (unsigned i = 1; i < s->part_count; i++) {
        enum ptx_type type = s->used[i] ? TYPE_NONE : type_of(s->parts[i].at, s->parts[i].length);
        if (type != TYPE_NONE) {
            s->used[i] = true;
            return type;
        }
    }
    return TYPE_NONE;
}
