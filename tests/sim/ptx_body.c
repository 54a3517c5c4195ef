/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of a function: scopes, registers, labels, statements. Called by ptx_text.c for each body; hands each
 * instruction to its family. The first thing that is not understood makes the function unknown, with its text as the
 * reason.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/ptx_body.h"

enum { MOST_INSTRUCTIONS = 1 << 20 };

void fail(struct body *b, const char *why)
{
    if (!b->failed)
        b->failed = why;
}

struct ptx_instruction *emit(struct body *b, ptx_step run)
{
    struct ptx_function *f = b->function;
    if (f->code_count >= MOST_INSTRUCTIONS) {
        fail(b, "too many instructions");
        f->code_count--;
    }
    f->code = ptx_more(f->code, f->code_count, &f->code_capacity, sizeof *f->code);
    struct ptx_instruction *i = &f->code[f->code_count++];
    *i = (struct ptx_instruction){.run = run, .at = b->statement ? b->statement->at : 0, .flags = PTX_PURE};
    return i;
}

uint32_t slot_new(struct body *b)
{
    struct ptx_function *f = b->function;
    f->slots = ptx_more(f->slots, f->slot_count, &f->slot_capacity, sizeof *f->slots);
    f->slots[f->slot_count] = 0;
    return f->slot_count++;
}

uint32_t slot_constant(struct body *b, uint64_t value)
{
    uint32_t slot = slot_new(b);
    b->function->slots[slot] = value;
    return slot;
}

static struct name *name_add(struct body *b, const struct declaration *d, int what, uint64_t offset)
{
    b->names = ptx_more(b->names, b->name_count, &b->name_capacity, sizeof *b->names);
    struct name *n = &b->names[b->name_count++];
    *n = (struct name){
        .token = d->name, .type = d->type, .range = d->range, .offset = offset, .size = d->size, .depth = b->depth};
    n->what = what;
    if (what == NAME_REGISTERS && !(n->slots = calloc((size_t)d->range, sizeof *n->slots)))
        abort();
    return n;
}

static void scope_end(struct body *b)
{
    while (b->name_count && b->names[b->name_count - 1].depth > b->depth)
        free(b->names[--b->name_count].slots);
    for (uint32_t i = 0; i < b->label_count; i++)
        if (b->labels[i].depth > b->depth && b->labels[i].to == UINT32_MAX)
            b->labels[i].to = b->function->code_count;
}

/* "%r7" of "%r<32>". */
static bool in_range(const struct name *n, const struct token *token, int64_t *number)
{
    uint32_t length = n->token.length;
    if (n->what != NAME_REGISTERS || token->length <= length || token->length > length + 7 ||
        memcmp(token->at, n->token.at, length) != 0)
        return false;
    *number = 0;
    for (uint32_t i = length; i < token->length; i++) {
        if (token->at[i] < '0' || token->at[i] > '9')
            return false;
        *number = *number * 10 + token->at[i] - '0';
    }
    return *number < n->range;
}

struct name *name_find(const struct body *b, const struct token *token, int64_t *number)
{
    for (uint32_t i = b->name_count; i-- > 0;) {
        struct name *n = &b->names[i];
        *number = 0;
        if (n->token.length == token->length && memcmp(n->token.at, token->at, token->length) == 0 && n->range == 1)
            return n;
        if (n->range > 1 && in_range(n, token, number))
            return n;
    }
    return NULL;
}

/* ---- declarations ---- */

static uint64_t place(size_t *total, const struct declaration *d)
{
    size_t offset = (*total + d->align - 1) / d->align * d->align;
    *total = offset + d->size;
    return offset;
}

static void declare(struct body *b, const struct token *directive, const struct declaration *d)
{
    if (token_is(directive, ".reg"))
        name_add(b, d, NAME_REGISTERS, 0);
    else if (token_is(directive, ".local"))
        name_add(b, d, NAME_LOCAL, place(&b->function->local_bytes, d));
    else if (token_is(directive, ".param"))
        name_add(b, d, NAME_FRAME_PARAM, place(&b->function->frame_bytes, d));
    else if (token_is(directive, ".shared"))
        name_add(b, d, NAME_VARIABLE, 0)->variable = variable_add(b->text, SPACE_SHARED, d, false);
    else
        fail(b, "a declaration");
}

static const struct token *read_declarations(struct body *b, const struct token *k)
{
    const struct token *directive = k;
    struct declaration d = {.type = TYPE_NONE};
    do {
        k = declaration_read(k + 1, &d);
        if (!d.name.length || d.type == TYPE_NONE || !d.size || d.values || d.element != type_size(d.type))
            fail(b, "a declaration");
        else
            declare(b, directive, &d);
    } while (token_is(k, ",") && !b->failed);
    return k;
}

/* Those of the function itself, by its own list of them, whose places are known. */
static void declare_formals(struct body *b, const struct token *k, struct ptx_formal *formals, unsigned count)
{
    unsigned i = 0;
    for (k++; k->kind != TOKEN_END && !token_is(k, ")") && i < count; k += token_is(k, ",")) {
        struct declaration d = {.type = TYPE_NONE};
        const struct token *from = k;
        k = declaration_read(k, &d);
        if (d.size) {
            struct ptx_formal *formal = &formals[i++];
            struct name *n = name_add(b, &d,
                                      formal->in_slot      ? NAME_REGISTERS
                                      : b->function->entry ? NAME_PARAM
                                                           : NAME_FRAME_PARAM,
                                      formal->offset);
            if (formal->in_slot)
                formal->slot = n->slots[0] = slot_new(b);
        }
        if (k == from || token_is(k, ";") || token_is(k, "="))
            k++;
    }
}

/* ---- operands ---- */

static const struct token *read_list(struct body *b, const struct token *k, struct operand *o)
{
    const char *end = *k->at == '(' ? ")" : "}";
    for (k++; k->kind != TOKEN_END && !token_is(k, end) && !token_is(k, ";"); k++) {
        if (token_is(k, ","))
            continue;
        if (o->count == 16 || token_is(k, "{") || token_is(k, "[")) {
            fail(b, "a list");
            return k;
        }
        o->list_negative[o->count] = token_is(k, "-");
        k += token_is(k, "-");
        o->list[o->count++] = *k;
    }
    return k + token_is(k, end);
}

/* "+4", "-4", "+-4". */
static const struct token *read_offset(const struct token *k, struct operand *o)
{
    bool negative = false;
    int64_t n;
    while (token_is(k, "+") || token_is(k, "-"))
        negative ^= *(k++)->at == '-';
    if (token_number(k, &n)) {
        o->offset = negative ? (int64_t)(0 - (uint64_t)n) : n;
        k++;
    }
    return k;
}

static const struct token *read_address(struct body *b, const struct token *k, struct operand *o)
{
    o->kind = OPERAND_ADDRESS;
    o->token = *++k;
    if (k->kind != TOKEN_WORD && k->kind != TOKEN_NUMBER) {
        fail(b, "an address");
        return k;
    }
    k = read_offset(k + 1, o);
    if (token_is(k, ",")) {
        o->kind = OPERAND_OBJECT;
        if (token_is(++k, "{"))
            k = read_list(b, k, o);
    }
    if (!token_is(k, "]"))
        fail(b, "an address");
    return k + token_is(k, "]");
}

static const struct token *read_operand(struct body *b, const struct token *k, struct operand *o)
{
    *o = (struct operand){.kind = OPERAND_PLAIN};
    if (token_is(k, "["))
        return read_address(b, k, o);
    if (token_is(k, "{") || token_is(k, "(")) {
        o->kind = OPERAND_LIST;
        return read_list(b, k, o);
    }
    o->negative = token_is(k, "!") || token_is(k, "-");
    k += o->negative;
    if (k->kind != TOKEN_WORD && k->kind != TOKEN_NUMBER) {
        fail(b, "an operand");
        return k;
    }
    o->token = *k++;
    if (token_is(k, "|")) {
        o->second = k[1];
        return k + (k[1].kind == TOKEN_END ? 1 : 2);
    }
    return token_is(k, "+") ? read_offset(k, o) : k;
}

/* ---- statements ---- */

static void split_opcode(struct body *b, const struct token *k, struct statement *s)
{
    const char *p = k->at, *end = k->at + k->length;
    while (p < end) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        if (!dot)
            dot = end;
        if (s->part_count == MOST_PARTS) {
            fail(b, "an opcode");
            return;
        }
        s->parts[s->part_count++] = (struct token){TOKEN_WORD, (uint32_t)(dot - p), p};
        p = dot + 1;
    }
}

static const struct token *read_instruction(struct body *b, const struct token *k)
{
    struct statement s = {.at = (uint32_t)(k->at - b->text->text)};
    struct token predicate = {TOKEN_END, 0, NULL};
    bool negative = false;
    b->statement = &s;
    if (token_is(k, "@")) {
        negative = token_is(++k, "!");
        k += negative;
        predicate = *k;
        k += k->kind != TOKEN_END;
    }
    if (k->kind != TOKEN_WORD) {
        fail(b, "a statement");
        return k;
    }
    split_opcode(b, k++, &s);
    while (!b->failed && !token_is(k, ";")) {
        if (s.operand_count == MOST_OPERANDS) {
            fail(b, "operands");
            break;
        }
        k = read_operand(b, k, &s.operands[s.operand_count++]);
        if (token_is(k, ","))
            k++;
        else if (!token_is(k, ";"))
            fail(b, "an operand");
    }
    family choose = b->failed ? NULL : family_of(&s.parts[0]);
    uint32_t guard = b->function->code_count;
    if (predicate.length && !b->failed)
        flow_guard(b, &predicate, negative);
    s.used[0] = true;
    if (choose)
        choose(b, &s);
    else
        fail(b, "an opcode");
    for (unsigned i = 0; i < s.part_count; i++)
        if (!s.used[i])
            fail(b, "a modifier");
    if (predicate.length && !b->failed)
        b->function->code[guard].offset = b->function->code_count - guard;
    return k;
}

static bool on_same_line(const struct token *k)
{
    return k[1].kind != TOKEN_END && !memchr(k->at, '\n', (size_t)(k[1].at - k->at));
}

static const struct token *read_label(struct body *b, const struct token *k)
{
    b->labels = ptx_more(b->labels, b->label_count, &b->label_capacity, sizeof *b->labels);
    b->labels[b->label_count++] = (struct label){.token = *k,
                                                 .depth = b->depth,
                                                 .where = b->function->code_count,
                                                 .from = b->scope_from[b->depth],
                                                 .to = UINT32_MAX};
    k += 2;
    if (token_is(k, ".callprototype") || token_is(k, ".branchtargets"))
        while (k->kind != TOKEN_END && !token_is(k, ";"))
            k++;
    return k;
}

static const struct token *read_statement(struct body *b, const struct token *k)
{
    if (token_is(k, "{")) {
        if (++b->depth == MOST_DEPTH) {
            fail(b, "scopes");
            b->depth--;
        }
        b->scope_from[b->depth] = b->function->code_count;
        return k + 1;
    }
    if (token_is(k, "}")) {
        b->depth -= b->depth > 1;
        scope_end(b);
        return k + 1;
    }
    if (token_is(k, ";"))
        return k + 1;
    if (k->kind == TOKEN_WORD && token_is(&k[1], ":"))
        return read_label(b, k);
    if (token_is(k, ".loc") || token_is(k, ".file")) {
        while (on_same_line(k))
            k++;
        return k + 1;
    }
    if (token_is(k, ".pragma")) {
        while (k->kind != TOKEN_END && !token_is(k, ";"))
            k++;
        return k;
    }
    if (k->kind == TOKEN_WORD && *k->at == '.')
        return read_declarations(b, k);
    return read_instruction(b, k);
}

static void say_unknown(struct body *b, const struct token *k)
{
    char text[200], why[300];
    struct ptx_instruction at = {.at = (uint32_t)(k->at - b->text->text)};
    snprintf(why, sizeof why, "%s, line %u: %s", b->failed, ptx_instruction_line(b->function, &at),
             ptx_instruction_text(b->function, &at, text, sizeof text));
    free(b->function->unknown);
    b->function->unknown = strdup(why);
}

void body_read(struct ptx_text *text, struct ptx_function *f, const struct token *from, const struct token *end,
               const struct token *parameters, const struct token *results)
{
    struct body b = {.function = f, .text = text};
    const struct token *k = from;
    slot_new(&b); /* 0: what nobody reads */
    slot_new(&b); /* PTX_SLOT_ZERO */
    if (results)
        declare_formals(&b, results, f->results, f->result_count);
    if (parameters)
        declare_formals(&b, parameters, f->parameters, f->parameter_count);
    if (!f->entry)
        f->frame_bytes = f->parameter_bytes;
    b.depth = 1;
    for (const struct token *at = k; k < end - 1 && !b.failed; at = k) {
        k = read_statement(&b, k);
        if (b.failed)
            say_unknown(&b, at);
    }
    b.statement = NULL;
    if (!b.failed)
        flow_end(&b);
    if (!b.failed)
        flow_branches(&b);
    if (b.failed && !f->unknown)
        say_unknown(&b, from);
    b.depth = 0;
    scope_end(&b);
    for (uint32_t i = 0; i < b.name_count; i++)
        free(b.names[i].slots);
    free(b.names);
    free(b.labels);
    free(b.branches);
}
