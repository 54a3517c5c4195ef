/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts steps into the form for an instruction, and deals out the form's registers. Called by all that lowers instructions.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

void ptx_emit_unknown(struct ptx *ptx, enum code_why why, uint32_t line, struct span text)
{
    char copy[CODE_TEXT] = "";
    uint32_t size = text.size < CODE_TEXT ? text.size : CODE_TEXT - 1;
    if (size)
        memcpy(copy, text.at, size);
    for (uint32_t i = 0; i < size; i++) {
        if ((unsigned char)copy[i] < ' ')
            copy[i] = ' ';
    }
    form_unknown(ptx->form, why, line, copy);
}

void ptx_emit_not_known(struct ptx *ptx, const struct instruction *in)
{
    ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, in->line, in->text);
    struct result result;
    for (uint32_t i = 0; i < in->count && in->argument[i].kind != ARGUMENT_ADDRESS; i++) {
        const struct argument *argument = &in->argument[i];
        int vector = argument->kind == ARGUMENT_VECTOR;
        for (uint32_t k = 0; k < (vector ? argument->count : 1); k++) {
            if (ptx_emit_result(ptx, in, vector ? &argument->items[k] : argument, &result))
                ptx_emit(ptx, in, (struct step){.kind = STEP_FORGET, .result = result.number, .words = result.words});
        }
    }
    ptx_emit(ptx, in, (struct step){.kind = STEP_NONE, .result = NO_REGISTER, .sets = {ALL_PREDICATES}});
}

uint16_t ptx_emit_new_words(struct ptx *ptx, uint32_t words)
{
    if (words >= NO_REGISTER - ptx->registers) {
        form_unknown(ptx->form, CODE_WHY_MANY, ptx->lexer.line, "registers");
        return NO_REGISTER;
    }
    uint16_t number = (uint16_t)ptx->registers;
    ptx->registers += words;
    return number;
}

uint16_t ptx_emit_register_number(struct ptx *ptx, struct ptx_register *one, const struct symbol *symbol)
{
    if (one->number == NO_REGISTER)
        one->number = ptx_emit_new_words(ptx, (symbol->bytes + 3u) / 4);
    return one->number;
}

uint16_t ptx_emit_predicate_number(struct ptx *ptx, struct ptx_register *one)
{
    if (one->number == NO_REGISTER) {
        if (ptx->predicates >= ALL_PREDICATES - 1) {
            form_unknown(ptx->form, CODE_WHY_MANY, ptx->lexer.line, "predicates");
            return ALL_PREDICATES;
        }
        one->number = (uint16_t)++ptx->predicates;
    }
    return one->number;
}

uint16_t ptx_emit_scratch(struct ptx *ptx)
{
    if (ptx->scratch == NO_REGISTER)
        ptx->scratch = ptx_emit_new_words(ptx, SCRATCH_WORDS);
    return (uint16_t)ptx->scratch;
}

uint32_t ptx_emit(struct ptx *ptx, const struct instruction *in, struct step step)
{
    step.at = in->line;
    step.function = ptx->function->number;
    step.guard = in->guard;
    step.guard_negated = in->guard_negated;
    return form_add(ptx->form, &step);
}

int ptx_emit_result(struct ptx *ptx, const struct instruction *in, const struct argument *argument, struct result *result)
{
    (void)in;
    if (argument->kind != ARGUMENT_REGISTER || argument->number == NO_REGISTER)
        return 0;
    struct ptx_register *origin = argument->origin;
    origin->definitions += origin->definitions < 2;
    if (origin->definitions == 2)
        ptx_circles_note(ptx, argument->number, argument->words);
    *result = (struct result){argument->number, argument->words};
    return 1;
}

struct operand ptx_emit_operand_register(uint16_t number, uint8_t words)
{
    return (struct operand){.kind = OPERAND_REGISTER, .number = number, .words = words};
}

struct operand ptx_emit_operand_constant(int64_t value)
{
    return (struct operand){.kind = OPERAND_CONSTANT, .value = value, .number = NO_REGISTER};
}

static struct operand variable_operand(struct ptx *ptx, const struct instruction *in, const struct argument *argument)
{
    const struct symbol *symbol = argument->symbol;
    struct operand operand = {.kind = OPERAND_OTHER, .number = NO_REGISTER};
    if (symbol->kind == SYMBOL_PARAMETER) {
        operand.kind = OPERAND_PARAMETERS_AT;
        operand.value = symbol->offset + argument->value;
    } else if (symbol->kind == SYMBOL_PASSED) {
        ptx_emit_unknown(ptx, CODE_WHY_ADDRESS, in->line, in->text);
    } else if (symbol->space == VARIABLE_STACK) {
        operand.kind = OPERAND_STACK;
        operand.value = symbol->offset + argument->value;
    } else if (symbol->space == VARIABLE_TEXTURE) {
        ptx->form->facts->flags |= CODE_BOUND_TEXTURE;
    } else if (symbol->space != VARIABLE_SHARED) {
        operand.kind = OPERAND_ADDRESS;
        operand.value = argument->value;
        operand.variable =
            form_variable(ptx->form, symbol->name.at, symbol->name.size, symbol->size, symbol->space == VARIABLE_CONSTANT);
    }
    return operand;
}

struct operand ptx_emit_source(struct ptx *ptx, const struct instruction *in, const struct argument *argument)
{
    switch (argument->kind) {
    case ARGUMENT_REGISTER: return ptx_emit_operand_register(argument->number, argument->words);
    case ARGUMENT_NUMBER: return ptx_emit_operand_constant(argument->value);
    case ARGUMENT_OTHER: return (struct operand){.kind = OPERAND_OTHER, .number = NO_REGISTER};
    case ARGUMENT_SYMBOL: return variable_operand(ptx, in, argument);
    case ARGUMENT_NONE:
    case ARGUMENT_PREDICATE:
    case ARGUMENT_SINK: break;
    default: ptx_emit_unknown(ptx, CODE_WHY_INSTRUCTION, in->line, in->text);
    }
    return (struct operand){.kind = OPERAND_NONE, .number = NO_REGISTER};
}

void ptx_emit_plain(struct ptx *ptx, const struct instruction *in, struct step step, uint32_t sources)
{
    struct result result;
    for (uint32_t i = 0; i < sources && i + 1 < in->count && i < STEP_SOURCES; i++) {
        struct operand operand = ptx_emit_source(ptx, in, &in->argument[i + 1]);
        operand.negated = step.source[i].negated;
        operand.scaled = step.source[i].scaled;
        step.source[i] = operand;
        step.sources = (uint8_t)(i + 1);
    }
    if (in->argument[0].kind == ARGUMENT_VECTOR)
        ptx_emit_not_known(ptx, in);
    else if (ptx_emit_result(ptx, in, &in->argument[0], &result)) {
        step.result = result.number;
        step.words = result.words;
        ptx_emit(ptx, in, step);
    }
}

void ptx_emit_move(struct ptx *ptx, const struct instruction *in, uint16_t to, uint8_t words, struct operand from)
{
    ptx_emit(ptx, in, (struct step){.kind = STEP_MOVE, .result = to, .words = words, .sources = 1, .source = {from}});
}

void ptx_emit_copy_words(struct ptx *ptx, const struct instruction *in, uint16_t to, uint16_t from, uint32_t words)
{
    for (uint32_t done = 0; done < words; done += STEP_WORDS) {
        uint8_t left = (uint8_t)(words - done < STEP_WORDS ? words - done : STEP_WORDS);
        ptx_emit_move(ptx, in, (uint16_t)(to + done), left, ptx_emit_operand_register((uint16_t)(from + done), left));
    }
}

void ptx_emit_numbers(struct ptx *ptx, const struct instruction *in, const struct argument *argument)
{
    struct result result;
    if (argument->kind == ARGUMENT_VECTOR) {
        for (uint32_t i = 0; i < argument->count; i++) {
            if (ptx_emit_result(ptx, in, &argument->items[i], &result))
                ptx_emit(ptx, in, (struct step){.kind = STEP_FLOAT, .result = result.number, .words = result.words});
        }
    } else if (ptx_emit_result(ptx, in, argument, &result)) {
        ptx_emit(ptx, in, (struct step){.kind = STEP_FLOAT, .result = result.number, .words = result.words});
    }
}

void ptx_emit_extend(struct ptx *ptx, const struct instruction *in, struct result result, uint8_t done, int is_signed)
{
    if (done >= result.words)
        return;
    struct step step = {.kind = is_signed ? STEP_MIX : STEP_MOVE,
                        .result = (uint16_t)(result.number + done),
                        .words = (uint8_t)(result.words - done),
                        .sources = 1};
    if (is_signed)
        step.source[0] = ptx_emit_operand_register((uint16_t)(result.number + done - 1), 1);
    else
        step.source[0] = ptx_emit_operand_constant(0);
    ptx_emit(ptx, in, step);
}

static void set_predicate(struct ptx *ptx, const struct instruction *in, uint16_t predicate)
{
    ptx_emit(ptx, in, (struct step){.kind = STEP_NONE, .result = NO_REGISTER, .sets = {predicate}});
}

void ptx_emit_predicates(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *argument = &in->argument[0];
    if (!in->count)
        return;
    int vector = argument->kind == ARGUMENT_VECTOR;
    for (uint32_t i = 0; i < (vector ? argument->count : 1); i++) {
        const struct argument *one = vector ? &argument->items[i] : argument;
        if (one->kind == ARGUMENT_PREDICATE)
            set_predicate(ptx, in, one->number);
        if (one->has_predicate)
            set_predicate(ptx, in, one->predicate);
    }
    if (vector && argument->has_predicate)
        set_predicate(ptx, in, argument->predicate);
}

int ptx_emit_has_part(const struct instruction *in, const char *word)
{
    for (uint32_t i = 1; i < in->parts; i++) {
        if (lexer_span_is(in->part[i], word))
            return 1;
    }
    return 0;
}

struct type ptx_emit_last_type(const struct instruction *in)
{
    return in->types ? in->type[in->types - 1] : (struct type){TYPE_BITS, 4};
}

int ptx_emit_any_float(const struct instruction *in)
{
    for (uint32_t i = 0; i < in->types; i++) {
        if (in->type[i].kind == TYPE_FLOAT)
            return 1;
    }
    return 0;
}
