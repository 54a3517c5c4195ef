/* SPDX-License-Identifier: Apache-2.0
 *
 * What an instruction of PTX computes, bit by bit, as far as extents need it. Called for every instruction, before it is
 * lowered. Must never say more than is so: an instruction, a form or a size that is not listed here leaves anything.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

/* ---- sources ---- */

static int of_size(struct span name, struct taken *taken)
{
    static const struct {
        const char *name;
        uint8_t first;
    } sizes[] = {{"%tid.", CODE_SIZE_THREAD},
                 {"%ctaid.", CODE_SIZE_BLOCK},
                 {"%ntid.", CODE_SIZE_THREADS},
                 {"%nctaid.", CODE_SIZE_BLOCKS}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t length = strlen(sizes[i].name);
        if (name.size != length + 1 || memcmp(name.at, sizes[i].name, length) != 0)
            continue;
        char lane = name.at[length];
        *taken = (struct taken){.kind = TAKES_SIZE, .number = (uint16_t)(sizes[i].first + (lane - 'x'))};
        return lane >= 'x' && lane <= 'z';
    }
    return 0;
}

/* A number, or a register of exactly so many bits. 0: it is neither. */
static int take(const struct argument *argument, uint32_t bits, struct taken *taken)
{
    *taken = (struct taken){.kind = TAKES_NOTHING};
    switch (argument->kind) {
    case ARGUMENT_REGISTER:
        *taken = (struct taken){.kind = TAKES_REGISTER, .number = argument->number};
        return argument->bytes * 8u == bits && argument->number != NO_REGISTER && !argument->value;
    case ARGUMENT_NUMBER:
        *taken = (struct taken){.kind = TAKES_NUMBER, .value = bits == 32 ? (int32_t)argument->value : argument->value};
        return 1;
    case ARGUMENT_OTHER: return bits == 32 && of_size(argument->name, taken);
    default: return 0;
    }
}

static int take_predicate(const struct argument *argument, struct taken *taken)
{
    *taken = (struct taken){.kind = TAKES_PREDICATE, .number = argument->number, .negated = argument->negated};
    return argument->kind == ARGUMENT_PREDICATE && !argument->has_predicate;
}

static int result_of(const struct argument *argument, uint32_t bits, struct meaning *meaning)
{
    meaning->result = argument->number;
    meaning->words = (uint8_t)(bits / 32);
    return argument->kind == ARGUMENT_REGISTER && argument->bytes * 8u == bits && !argument->has_predicate &&
           argument->number != NO_REGISTER;
}

/* ---- kinds of instructions ---- */

static int is_named(const struct instruction *in, const char *name)
{
    return lexer_span_is(in->part[0], name);
}

/* The bits of its only type, an integer's; 0: it has another one, or several. */
static uint32_t bits_of(const struct instruction *in)
{
    struct type type = in->type[0];
    int is_integer = type.kind == TYPE_BITS || type.kind == TYPE_SIGNED || type.kind == TYPE_UNSIGNED;
    return in->types == 1 && is_integer && (type.bytes == 4 || type.bytes == 8) ? type.bytes * 8u : 0;
}

/* d, a, b of one type, and no other part of the name but `lo`. */
static int plain(const struct instruction *in, struct meaning *meaning, enum meaning_kind kind, uint32_t sources)
{
    uint32_t bits = bits_of(in);
    meaning->kind = (uint8_t)kind;
    meaning->bits = (uint8_t)bits;
    meaning->is_signed = in->type[0].kind == TYPE_SIGNED;
    if (!bits || in->count != sources + 1 || !result_of(&in->argument[0], bits, meaning))
        return 0;
    for (uint32_t i = 0; i < sources; i++) {
        if (!take(&in->argument[i + 1], bits, &meaning->source[i]))
            return 0;
    }
    return 1;
}

static int takes_number(const struct meaning *meaning, int64_t least, int64_t end)
{
    const struct taken *taken = &meaning->source[1];
    return taken->kind == TAKES_NUMBER && taken->value >= least && taken->value < end;
}

static int of_product(const struct instruction *in, struct meaning *meaning)
{
    uint32_t sources = is_named(in, "mad") ? 3 : 2;
    if (in->parts != 3)
        return 0;
    if (lexer_span_is(in->part[1], "lo"))
        return plain(in, meaning, MEANS_MULTIPLY, sources);
    if (!lexer_span_is(in->part[1], "wide") || bits_of(in) != 32 || in->count != sources + 1 ||
        !result_of(&in->argument[0], 64, meaning))
        return 0;
    meaning->kind = MEANS_WIDE;
    meaning->bits = 64;
    meaning->is_signed = in->type[0].kind == TYPE_SIGNED;
    return in->type[0].kind != TYPE_BITS && take(&in->argument[1], 32, &meaning->source[0]) &&
           take(&in->argument[2], 32, &meaning->source[1]) &&
           (sources == 2 || take(&in->argument[3], 64, &meaning->source[2]));
}

static int of_negate(const struct instruction *in, struct meaning *meaning)
{
    if (!plain(in, meaning, MEANS_SUBTRACT, 1))
        return 0;
    meaning->source[1] = meaning->source[0];
    meaning->source[0] = (struct taken){.kind = TAKES_NUMBER};
    return 1;
}

static int of_convert(const struct instruction *in, struct meaning *meaning)
{
    struct type to = in->type[0], from = in->type[1];
    int integers =
        (to.kind == TYPE_SIGNED || to.kind == TYPE_UNSIGNED) && (from.kind == TYPE_SIGNED || from.kind == TYPE_UNSIGNED);
    if (in->parts != 3 || in->types != 2 || in->count != 2 || !integers || to.bytes < 4 || from.bytes < 4)
        return 0;
    meaning->kind = to.bytes == from.bytes ? MEANS_MOVE : to.bytes > from.bytes ? MEANS_EXTEND : MEANS_CUT;
    meaning->bits = (uint8_t)(to.bytes * 8);
    meaning->is_signed = from.kind == TYPE_SIGNED;
    return result_of(&in->argument[0], to.bytes * 8u, meaning) &&
           take(&in->argument[1], from.bytes * 8u, &meaning->source[0]);
}

/* A generic address of global memory is the same number as the global one. */
static int of_cvta(const struct instruction *in, struct meaning *meaning)
{
    return ptx_access_of(in).where == ACCESS_MEMORY && ptx_access_of(in).space == SPACE_GLOBAL && bits_of(in) == 64 &&
           in->argument[1].kind == ARGUMENT_REGISTER && plain(in, meaning, MEANS_MOVE, 1);
}

static int of_choose(const struct instruction *in, struct meaning *meaning)
{
    struct instruction first = *in;
    first.count = 3;
    return in->parts == 2 && in->count == 4 && plain(&first, meaning, MEANS_CHOOSE, 2) &&
           take_predicate(&in->argument[3], &meaning->source[2]);
}

/* ---- predicates ---- */

static const struct {
    const char *name;
    uint8_t relation, swapped, negated, is_unsigned;
} comparisons[] = {
    {"eq", RELATION_EQUAL, 0, 0, 0}, {"ne", RELATION_EQUAL, 0, 1, 0}, {"lt", RELATION_LESS, 0, 0, 0},
    {"le", RELATION_UP_TO, 0, 0, 0}, {"gt", RELATION_LESS, 1, 0, 0},  {"ge", RELATION_UP_TO, 1, 0, 0},
    {"lo", RELATION_LESS, 0, 0, 1},  {"ls", RELATION_UP_TO, 0, 0, 1}, {"hi", RELATION_LESS, 1, 0, 1},
    {"hs", RELATION_UP_TO, 1, 0, 1},
};

static int of_relation(const struct instruction *in, struct meaning *meaning, int *swapped)
{
    uint8_t kind = in->type[0].kind;
    for (uint32_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (!lexer_span_is(in->part[1], comparisons[i].name))
            continue;
        meaning->relation = comparisons[i].relation;
        meaning->negated = comparisons[i].negated;
        meaning->is_signed = kind == TYPE_SIGNED && !comparisons[i].is_unsigned;
        *swapped = comparisons[i].swapped;
        return kind != TYPE_BITS || meaning->relation == RELATION_EQUAL;
    }
    return 0;
}

/* setp.lt.and.s32 p, a, b, !q */
static int of_compare(const struct instruction *in, struct meaning *meaning)
{
    uint32_t bits = bits_of(in), with = in->parts == 4;
    int swapped;
    meaning->kind = MEANS_COMPARE;
    meaning->bits = (uint8_t)bits;
    meaning->result = in->argument[0].number;
    if (!bits || in->parts != 3 + with || in->count != 3 + with || in->argument[0].kind != ARGUMENT_PREDICATE ||
        in->argument[0].has_predicate || !of_relation(in, meaning, &swapped))
        return 0;
    if (with)
        meaning->with = lexer_span_is(in->part[2], "and")  ? MEANS_BOTH
                        : lexer_span_is(in->part[2], "or") ? MEANS_EITHER
                                                           : MEANS_NOTHING;
    return take(&in->argument[1], bits, &meaning->source[swapped]) &&
           take(&in->argument[2], bits, &meaning->source[!swapped]) &&
           (!with || (meaning->with && take_predicate(&in->argument[3], &meaning->source[2])));
}

/* and.pred, or.pred, not.pred, mov.pred */
static int of_predicates(const struct instruction *in, struct meaning *meaning)
{
    int two = is_named(in, "and") || is_named(in, "or");
    meaning->kind = is_named(in, "and") ? MEANS_BOTH : is_named(in, "or") ? MEANS_EITHER : MEANS_NOT;
    meaning->result = in->argument[0].number;
    if (!two && !is_named(in, "not") && !is_named(in, "mov"))
        return 0;
    if (in->parts != 2 || in->count != 2u + (uint32_t)two || in->argument[0].has_predicate ||
        !take_predicate(&in->argument[1], &meaning->source[0]) ||
        (two && !take_predicate(&in->argument[2], &meaning->source[1])))
        return 0;
    if (is_named(in, "mov")) /* not of its opposite */
        meaning->source[0].negated ^= 1;
    return 1;
}

/* ---- memory ---- */

static int of_parameter(const struct instruction *in, struct meaning *meaning)
{
    uint32_t bits = in->types == 1 ? in->type[0].bytes * 8u : 0;
    const struct argument *address = &in->argument[1], *base = address->items;
    struct operand operand;
    if (in->parts != 3 || in->count != 2 || (bits != 32 && bits != 64) || address->kind != ARGUMENT_ADDRESS ||
        address->count != 1 || base->kind != ARGUMENT_SYMBOL || base->symbol->kind != SYMBOL_PARAMETER ||
        !ptx_places_operand(base->symbol, base->value, bits / 8, &operand) || operand.value > UINT16_MAX)
        return 0;
    meaning->kind = MEANS_MOVE;
    meaning->bits = (uint8_t)bits;
    meaning->source[0] = (struct taken){.kind = TAKES_PARAMETER, .number = (uint16_t)operand.value};
    return result_of(&in->argument[0], bits, meaning);
}

/* Loads, stores and atomic operations: all of one type, one element or a vector of them. */
static int of_access(const struct instruction *in, struct meaning *meaning)
{
    const struct argument *address = ptx_access_argument(in, 0);
    struct access access = ptx_access_of(in);
    struct argument base = address && address->count == 1 ? address->items[0] : (struct argument){.kind = ARGUMENT_NONE};
    uint32_t elements = 1;
    meaning->value = base.value;
    base.value = 0;
    if (access.where != ACCESS_MEMORY || (access.space != SPACE_GLOBAL && access.space != SPACE_GENERIC) ||
        in->types != 1 || ptx_emit_has_part(in, "bulk") || ptx_emit_has_part(in, "async") ||
        !take(&base, 64, &meaning->source[0]) || meaning->source[0].kind != TAKES_REGISTER)
        return 0;
    for (uint32_t i = 0; i < in->count; i++) {
        const struct argument *one = &in->argument[i];
        if (one->kind == ARGUMENT_VECTOR && one->count > elements)
            elements = one->count;
    }
    meaning->kind = MEANS_ACCESS;
    meaning->bytes = elements * in->type[0].bytes;
    return meaning->bytes != 0;
}

/* ---- */

static int is_access(const struct instruction *in)
{
    return is_named(in, "ld") || is_named(in, "ldu") || is_named(in, "st") || is_named(in, "atom") || is_named(in, "red");
}

static int of_logic(const struct instruction *in, struct meaning *meaning)
{
    return plain(in, meaning, is_named(in, "and") ? MEANS_AND : MEANS_OR, 2) && takes_number(meaning, INT64_MIN, INT64_MAX);
}

static int of_shift(const struct instruction *in, struct meaning *meaning)
{
    return plain(in, meaning, is_named(in, "shl") ? MEANS_LEFT : MEANS_RIGHT, 2) && takes_number(meaning, 0, meaning->bits);
}

static int of_two(const struct instruction *in, struct meaning *meaning)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } rows[] = {{"add", MEANS_ADD},       {"sub", MEANS_SUBTRACT}, {"div", MEANS_DIVIDE},
                {"rem", MEANS_REMAINDER}, {"min", MEANS_SMALLER},  {"max", MEANS_LARGER}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (is_named(in, rows[i].name))
            return plain(in, meaning, (enum meaning_kind)rows[i].kind, 2);
    }
    return 0;
}

static int meaning_of(const struct instruction *in, struct meaning *meaning)
{
    if (in->types && in->type[0].kind == TYPE_PREDICATE)
        return of_predicates(in, meaning);
    if (is_named(in, "setp"))
        return of_compare(in, meaning);
    if (is_named(in, "cvt"))
        return of_convert(in, meaning);
    if (is_named(in, "cvta"))
        return of_cvta(in, meaning);
    if (is_named(in, "mul") || is_named(in, "mad"))
        return of_product(in, meaning);
    if (is_access(in))
        return ptx_access_of(in).where == ACCESS_PARAMETER ? is_named(in, "ld") && of_parameter(in, meaning)
                                                           : of_access(in, meaning);
    if (in->parts != 2)
        return 0;
    if (is_named(in, "mov"))
        return plain(in, meaning, MEANS_MOVE, 1);
    if (is_named(in, "neg"))
        return of_negate(in, meaning);
    if (is_named(in, "selp"))
        return of_choose(in, meaning);
    if (is_named(in, "shl") || is_named(in, "shr"))
        return of_shift(in, meaning);
    return is_named(in, "and") || is_named(in, "or") ? of_logic(in, meaning) : of_two(in, meaning);
}

/* What an instruction under a guard computes may also not be computed. */
struct ptx_meanings ptx_meaning_begin(struct ptx *ptx, const struct instruction *in)
{
    struct ptx_meanings meanings = {ptx->form->meanings, ptx->form->steps};
    struct meaning meaning = {.step = ptx->form->steps, .guard = in->guard, .guard_negated = in->guard_negated};
    if (meaning_of(in, &meaning) && (meaning.kind == MEANS_ACCESS || !in->guard))
        form_add_meaning(ptx->form, &meaning);
    return meanings;
}

void ptx_meaning_end(struct ptx *ptx, struct ptx_meanings meanings)
{
    struct form *form = ptx->form;
    if (form->steps == meanings.step) /* it would be taken for the next instruction's */
        form->meanings = meanings.first;
    if (form->meanings > meanings.first)
        form->meaning[meanings.first].covers = form->steps - meanings.step;
}
