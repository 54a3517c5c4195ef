/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomic operations. Called by the table. An access must never be left out: where it can't be told, the
 * facts say so.
 */
#include "interpose/code/ptx/ptx.h"

/* The registers of a load or store, one or a vector of them. */
struct elements {
    const struct argument *first;
    uint32_t count, bytes; /* of each */
    int is_signed;
};

static struct elements elements_of(const struct instruction *in, const struct argument *argument)
{
    struct type type = ptx_emit_last_type(in);
    int vector = argument->kind == ARGUMENT_VECTOR;
    return (struct elements){vector ? argument->items : argument, vector ? argument->count : 1, type.bytes,
                             type.kind == TYPE_SIGNED};
}

static uint32_t words_of(uint32_t bytes)
{
    return (bytes + 3) / 4;
}

/* Whether they are neighbours in the form, whole words each, so that one step can load or store them all. */
static int is_row(const struct elements *elements)
{
    for (uint32_t i = 0; i < elements->count; i++) {
        const struct argument *one = &elements->first[i];
        if (one->kind != ARGUMENT_REGISTER || one->words * 4u != elements->bytes ||
            one->number != elements->first[0].number + i * one->words)
            return 0;
    }
    return 1;
}

static struct step access_step(enum step_kind kind, uint8_t space, uint8_t use, uint32_t bytes)
{
    return (struct step){.kind = (uint8_t)kind,
                         .words = (uint8_t)words_of(bytes),
                         .narrow = bytes % 4 != 0,
                         .space = space,
                         .use = use,
                         .result = NO_REGISTER};
}

/* One element out of the words into which all were loaded. */
static void take_element(struct ptx *ptx, const struct instruction *in, const struct elements *elements, uint32_t i,
                         uint16_t loaded)
{
    struct result result;
    if (!ptx_emit_result(ptx, in, &elements->first[i], &result))
        return;
    uint8_t words = (uint8_t)words_of(elements->bytes);
    if (words > result.words)
        return ptx_emit_not_known(ptx, in);
    struct operand from = ptx_emit_operand_register((uint16_t)(loaded + i * elements->bytes / 4), words);
    ptx_emit(ptx, in,
             (struct step){.kind = elements->bytes < 4 ? STEP_MIX : STEP_MOVE,
                           .result = result.number,
                           .words = words,
                           .sources = 1,
                           .source = {from}});
    ptx_emit_extend(ptx, in, result, words, elements->is_signed);
}

static void load_vector(struct ptx *ptx, const struct instruction *in, struct step step, const struct elements *elements)
{
    struct result result;
    uint32_t bytes = elements->count * elements->bytes;
    if (!bytes || words_of(bytes) > SCRATCH_WORDS)
        return ptx_emit_not_known(ptx, in);
    step.words = (uint8_t)words_of(bytes);
    step.narrow = bytes % 4 != 0;
    int row = is_row(elements);
    step.result = row ? elements->first[0].number : ptx_emit_scratch(ptx);
    ptx_emit(ptx, in, step);
    for (uint32_t i = 0; i < elements->count; i++) {
        if (row)
            ptx_emit_result(ptx, in, &elements->first[i], &result);
        else
            take_element(ptx, in, elements, i, step.result);
    }
}

static uint32_t load_one(struct ptx *ptx, const struct instruction *in, struct step step, const struct elements *elements)
{
    struct result result = {NO_REGISTER, step.words};
    ptx_emit_result(ptx, in, elements->first, &result);
    if (step.words > result.words || elements->first->kind == ARGUMENT_VECTOR) {
        ptx_emit_not_known(ptx, in);
        return UINT32_MAX;
    }
    step.result = result.number;
    uint32_t number = ptx_emit(ptx, in, step);
    if (result.number != NO_REGISTER)
        ptx_emit_extend(ptx, in, result, step.words, elements->is_signed);
    return number;
}

/* Element i of what an operand says where all of it lies: parameters, what is passed, constant variables. */
static void move_element(struct ptx *ptx, const struct instruction *in, const struct elements *elements, uint32_t i,
                         struct operand from)
{
    struct result result;
    if (!ptx_emit_result(ptx, in, &elements->first[i], &result))
        return;
    uint8_t words = (uint8_t)words_of(elements->bytes);
    if (words > result.words)
        return ptx_emit_not_known(ptx, in);
    from.words = words;
    ptx_emit(ptx, in,
             (struct step){.kind = from.scaled ? STEP_SUM : STEP_MOVE,
                           .result = result.number,
                           .words = words,
                           .sources = 1,
                           .source = {from}});
    ptx_emit_extend(ptx, in, result, words, elements->is_signed);
}

/* By a register that has the address of a parameter: where it points is known at the function's end. */
static void load_by_place(struct ptx *ptx, const struct instruction *in, const struct elements *elements,
                          const struct argument *address)
{
    for (uint32_t i = 0; i < elements->count; i++) {
        struct step step = access_step(STEP_LOAD, SPACE_GENERIC, CODE_READ, elements->bytes);
        struct argument base = address->items[0];
        struct elements one = {&elements->first[i], 1, elements->bytes, elements->is_signed};
        base.value += i * elements->bytes;
        if (!ptx_access_address(ptx, in, address, i * elements->bytes, &step))
            return;
        if (one.first->kind == ARGUMENT_SINK)
            continue;
        uint32_t number = load_one(ptx, in, step, &one);
        if (number != UINT32_MAX)
            ptx_places_wait(ptx, number, &base, elements->bytes);
    }
}

static void load_parameter(struct ptx *ptx, const struct instruction *in, const struct elements *elements,
                           const struct argument *address)
{
    const struct argument *base = &address->items[0];
    if (base->kind == ARGUMENT_REGISTER)
        return load_by_place(ptx, in, elements, address);
    if (base->kind != ARGUMENT_SYMBOL || (base->symbol->kind != SYMBOL_PARAMETER && base->symbol->kind != SYMBOL_PASSED))
        return ptx_emit_not_known(ptx, in);
    if (ptx->called && base->symbol->kind == SYMBOL_PASSED)
        ptx_circles_note(ptx, base->symbol->number, (uint32_t)(base->symbol->size + 3) / 4);
    for (uint32_t i = 0; i < elements->count; i++) {
        struct operand operand;
        if (ptx_places_operand(base->symbol, base->value + i * elements->bytes, elements->bytes, &operand))
            move_element(ptx, in, elements, i, operand);
        else
            ptx_emit_not_known(ptx, in);
    }
}

static int is_constant(const struct argument *base)
{
    return base->kind == ARGUMENT_SYMBOL && base->symbol->kind == SYMBOL_VARIABLE &&
           base->symbol->space == VARIABLE_CONSTANT;
}

static void load_constant(struct ptx *ptx, const struct instruction *in, const struct elements *elements,
                          const struct argument *address)
{
    struct operand operand = ptx_emit_source(ptx, in, &address->items[0]);
    operand.kind = OPERAND_BANK;
    operand.scaled = elements->bytes < 4;
    for (uint32_t i = 0; i < elements->count; i++) {
        move_element(ptx, in, elements, i, operand);
        operand.value += elements->bytes;
    }
}

void lower_load(struct ptx *ptx, const struct instruction *in)
{
    struct access access = ptx_access_of(in);
    const struct argument *address = ptx_access_argument(in, 0);
    struct elements elements = elements_of(in, &in->argument[0]);
    if (!address || address == &in->argument[0])
        return ptx_emit_not_known(ptx, in);
    if (access.where == ACCESS_PARAMETER)
        return load_parameter(ptx, in, &elements, address);
    if (access.space == SPACE_CONSTANT && is_constant(&address->items[0]))
        return load_constant(ptx, in, &elements, address);
    struct step step = access_step(STEP_LOAD, access.space, CODE_READ, elements.bytes);
    if (!ptx_access_address(ptx, in, address, 0, &step))
        return;
    if (in->argument[0].kind == ARGUMENT_VECTOR)
        load_vector(ptx, in, step, &elements);
    else
        load_one(ptx, in, step, &elements);
}

static void store_parameter(struct ptx *ptx, const struct instruction *in, const struct elements *elements,
                            const struct argument *address)
{
    const struct argument *base = &address->items[0];
    if (base->kind != ARGUMENT_SYMBOL || base->symbol->kind != SYMBOL_PASSED)
        return ptx_emit_not_known(ptx, in);
    ptx_circles_note(ptx, base->symbol->number, (uint32_t)(base->symbol->size + 3) / 4);
    for (uint32_t i = 0; i < elements->count; i++) {
        struct operand to, from = ptx_emit_source(ptx, in, &elements->first[i]);
        if (!ptx_places_operand(base->symbol, base->value + i * elements->bytes, elements->bytes, &to))
            return ptx_emit_not_known(ptx, in);
        struct step step = {.kind = STEP_MOVE, .result = to.number, .words = to.words, .sources = 1, .source = {from}};
        if (to.scaled) { /* a part of a word, or of two */
            uint64_t end = (uint64_t)base->value + (i + 1) * elements->bytes, last = (end + 3) / 4;
            step.kind = STEP_MIX;
            step.words = (uint8_t)(base->symbol->number + last - to.number);
            step.sources = 2;
            step.source[1] = ptx_emit_operand_register(to.number, step.words);
        }
        ptx_emit(ptx, in, step);
    }
}

/* Elements that are no neighbours are brought together first. */
static struct operand gather(struct ptx *ptx, const struct instruction *in, const struct elements *elements)
{
    uint16_t scratch = ptx_emit_scratch(ptx);
    uint8_t words = (uint8_t)words_of(elements->bytes);
    if (is_row(elements))
        return ptx_emit_operand_register(elements->first[0].number, (uint8_t)(elements->count * words));
    if (elements->bytes >= 4) {
        for (uint32_t i = 0; i < elements->count; i++)
            ptx_emit_move(ptx, in, (uint16_t)(scratch + i * words), words, ptx_emit_source(ptx, in, &elements->first[i]));
        return ptx_emit_operand_register(scratch, (uint8_t)(elements->count * words));
    }
    uint32_t each = 4 / elements->bytes, all = words_of(elements->count * elements->bytes);
    for (uint32_t word = 0; word < all; word++) {
        struct step step = {.kind = STEP_MIX, .result = (uint16_t)(scratch + word), .words = 1};
        for (uint32_t i = word * each; i < (word + 1) * each && i < elements->count; i++)
            step.source[step.sources++] = ptx_emit_source(ptx, in, &elements->first[i]);
        ptx_emit(ptx, in, step);
    }
    return ptx_emit_operand_register(scratch, (uint8_t)all);
}

void lower_store(struct ptx *ptx, const struct instruction *in)
{
    struct access access = ptx_access_of(in);
    const struct argument *address = ptx_access_argument(in, 0);
    struct elements elements = elements_of(in, &in->argument[1]);
    uint32_t bytes = elements.count * elements.bytes;
    if (address != &in->argument[0] || in->count < 2 || !bytes || words_of(bytes) > SCRATCH_WORDS)
        return ptx_emit_not_known(ptx, in);
    if (access.where == ACCESS_PARAMETER)
        return store_parameter(ptx, in, &elements, address);
    struct step step = access_step(STEP_STORE, access.space, CODE_WRITE, bytes);
    if (!ptx_access_address(ptx, in, address, 0, &step))
        return;
    step.sources = 1;
    if (ptx_emit_has_part(in, "bulk")) /* zeros, of as many bytes as the argument says */
        step.source[0] = ptx_emit_operand_constant(0);
    else if (in->argument[1].kind == ARGUMENT_VECTOR)
        step.source[0] = gather(ptx, in, &elements);
    else
        step.source[0] = ptx_emit_source(ptx, in, &in->argument[1]);
    ptx_emit(ptx, in, step);
}

/* atom d, [a], b, c; red [a], b. Of a comparison b lies there already. */
void lower_atomic(struct ptx *ptx, const struct instruction *in)
{
    struct access access = ptx_access_of(in);
    const struct argument *address = ptx_access_argument(in, 0);
    uint32_t at = address ? (uint32_t)(address - in->argument) : 0;
    struct elements elements = elements_of(in, &in->argument[0]);
    struct step step = access_step(STEP_ATOMIC, access.space, CODE_READ | CODE_WRITE | CODE_ATOMIC, elements.bytes);
    struct result result;
    uint32_t source = at + (ptx_emit_has_part(in, "cas") ? 2 : 1);
    if (!address || source >= in->count || access.where != ACCESS_MEMORY)
        return ptx_emit_not_known(ptx, in);
    if (!ptx_access_address(ptx, in, address, 0, &step))
        return;
    if (in->argument[source].kind != ARGUMENT_VECTOR && !ptx_emit_any_float(in)) {
        step.sources = 1;
        step.source[0] = ptx_emit_source(ptx, in, &in->argument[source]);
    }
    if (at && in->argument[0].kind == ARGUMENT_REGISTER && !ptx_emit_any_float(in) &&
        ptx_emit_result(ptx, in, &in->argument[0], &result)) {
        step.result = result.number;
        step.words = step.words < result.words ? step.words : result.words;
        ptx_emit(ptx, in, step);
        ptx_emit_extend(ptx, in, result, step.words, elements.is_signed);
        return;
    }
    ptx_emit(ptx, in, step);
    if (at)
        ptx_emit_numbers(ptx, in, &in->argument[0]);
}

/* What lay there may be anything afterwards. */
void lower_discard(struct ptx *ptx, const struct instruction *in)
{
    struct step step = access_step(STEP_STORE, ptx_access_of(in).space, CODE_WRITE, 1);
    if (!ptx_access_address(ptx, in, ptx_access_argument(in, 0), 0, &step))
        return;
    step.sources = 1;
    step.source[0] = ptx_emit_operand_constant(0);
    ptx_emit(ptx, in, step);
}

/* multimem.ld_reduce, .st, .red and copies: the same memory on all devices of a group. */
void lower_multimem(struct ptx *ptx, const struct instruction *in)
{
    if (ptx_emit_has_part(in, "ld_reduce"))
        lower_load(ptx, in);
    else if (ptx_emit_has_part(in, "st"))
        lower_store(ptx, in);
    else if (ptx_emit_has_part(in, "red"))
        lower_atomic(ptx, in);
    else if (ptx_emit_has_part(in, "cp"))
        lower_copy(ptx, in);
    else
        ptx_emit_not_known(ptx, in);
}
