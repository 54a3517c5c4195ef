/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, calls and ends. Called by the table.
 */
#include <string.h>

#include "interpose/code/ptx/ptx.h"

void lower_branch(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *to = &in->argument[0];
    if (in->count != 1 || to->kind != ARGUMENT_NAME)
        return ptx_emit_unknown(ptx, CODE_WHY_BRANCH, in->line, in->text);
    uint32_t step = ptx_emit(ptx, in, (struct step){.kind = STEP_BRANCH, .result = NO_REGISTER});
    if (step != UINT32_MAX)
        ptx_labels_wait(ptx, WAIT_STEP, step, to->name, in->line);
}

/* brx.idx index, label before .branchtargets */
void lower_branch_table(struct ptx *ptx, const struct instruction *in)
{
    const struct argument *to = &in->argument[1];
    if (in->count != 2 || to->kind != ARGUMENT_NAME)
        return ptx_emit_unknown(ptx, CODE_WHY_BRANCH, in->line, in->text);
    uint32_t step = ptx_emit(ptx, in, (struct step){.kind = STEP_SWITCH, .result = NO_REGISTER});
    if (step != UINT32_MAX)
        ptx_labels_wait(ptx, WAIT_SWITCH, step, to->name, in->line);
}

void lower_exit(struct ptx *ptx, const struct instruction *in)
{
    ptx_emit(ptx, in, (struct step){.kind = STEP_EXIT, .result = NO_REGISTER});
}

void lower_return(struct ptx *ptx, const struct instruction *in)
{
    int kernel = ptx->function->is_wanted;
    const struct formals *results = &ptx->function->results;
    for (uint32_t i = 0; !kernel && i < results->count; i++) {
        const struct symbol *result = results->symbol[i];
        if (result->kind == SYMBOL_PASSED)
            ptx_emit_copy_words(ptx, in, result->number, result->own, (uint32_t)(result->size + 3) / 4);
    }
    ptx_emit(ptx, in, (struct step){.kind = kernel ? STEP_EXIT : STEP_RETURN, .result = NO_REGISTER});
}

/* call (results), name, (parameters); both lists may be missing. */
struct call_text {
    const struct argument *results, *name, *parameters;
};

static int call_text(const struct instruction *in, struct call_text *call)
{
    uint32_t i = 0;
    *call = (struct call_text){NULL, NULL, NULL};
    if (i < in->count && in->argument[i].kind == ARGUMENT_VECTOR)
        call->results = &in->argument[i++];
    if (i == in->count)
        return 0;
    call->name = &in->argument[i++];
    if (i < in->count && in->argument[i].kind == ARGUMENT_VECTOR)
        call->parameters = &in->argument[i];
    return 1;
}

/* A variable, register or number of the call's, as one side of a move. */
static int side(struct ptx *ptx, const struct instruction *in, const struct argument *argument, struct operand *operand,
                uint32_t *words)
{
    if (argument->kind == ARGUMENT_SYMBOL && argument->symbol->kind == SYMBOL_PASSED) {
        *operand = ptx_emit_operand_register((uint16_t)argument->symbol->number, 0);
        *words = (uint32_t)(argument->symbol->size + 3) / 4;
        return argument->symbol->number != NO_REGISTER;
    }
    *operand = ptx_emit_source(ptx, in, argument);
    *words = argument->words;
    return argument->kind == ARGUMENT_REGISTER || argument->kind == ARGUMENT_NUMBER || argument->kind == ARGUMENT_OTHER;
}

static void formal_argument(struct ptx *ptx, const struct symbol *formal, struct argument *argument)
{
    *argument = (struct argument){.kind = ARGUMENT_SYMBOL, .symbol = formal};
    if (formal->kind == SYMBOL_REGISTER && formal->registers) {
        argument->kind = ARGUMENT_REGISTER;
        argument->words = (uint8_t)((formal->bytes + 3) / 4);
        argument->origin = formal->registers;
        argument->number = ptx_emit_register_number(ptx, formal->registers, formal);
    } else if (formal->kind != SYMBOL_PASSED) {
        argument->kind = ARGUMENT_NONE;
    }
}

/* What the caller wrote down to what the function reads, or the other way round. */
static void hand_over(struct ptx *ptx, const struct instruction *in, const struct argument *actuals,
                      const struct formals *formals, int back)
{
    uint32_t count = actuals ? actuals->count : 0;
    if (count != formals->count)
        return ptx_emit_unknown(ptx, CODE_WHY_CALL, in->line, in->text);
    for (uint32_t i = 0; i < count; i++) {
        const struct argument *actual = &actuals->items[i];
        struct argument formal;
        struct operand to, from;
        struct result result;
        uint32_t to_words, from_words;
        formal_argument(ptx, formals->symbol[i], &formal);
        if (actual->kind == ARGUMENT_PREDICATE || actual->kind == ARGUMENT_SINK)
            continue;
        if (!side(ptx, in, back ? actual : &formal, &to, &to_words) ||
            !side(ptx, in, back ? &formal : actual, &from, &from_words) || to.kind != OPERAND_REGISTER) {
            ptx_emit_unknown(ptx, CODE_WHY_CALL, in->line, in->text);
            continue;
        }
        ptx_emit_result(ptx, in, back ? actual : &formal, &result);
        if (from.kind == OPERAND_REGISTER)
            ptx_emit_copy_words(ptx, in, to.number, from.number, from_words < to_words ? from_words : to_words);
        else
            ptx_emit_move(ptx, in, to.number, (uint8_t)to_words, from);
    }
}

/* What a call that is not followed leaves in its results. */
static void set_results(struct ptx *ptx, const struct instruction *in, const struct argument *results, enum step_kind kind,
                        struct operand value)
{
    for (uint32_t i = 0; results && i < results->count; i++) {
        struct operand to;
        struct result result;
        uint32_t words;
        if (!side(ptx, in, &results->items[i], &to, &words) || to.kind != OPERAND_REGISTER)
            continue;
        ptx_emit_result(ptx, in, &results->items[i], &result);
        for (uint32_t done = 0; done < words; done += STEP_WORDS)
            ptx_emit(ptx, in,
                     (struct step){.kind = (uint8_t)kind,
                                   .result = (uint16_t)(to.number + done),
                                   .words = (uint8_t)(words - done < STEP_WORDS ? words - done : STEP_WORDS),
                                   .sources = kind == STEP_MOVE,
                                   .source = {value}});
    }
}

static int is_any(struct span name, const char *const *names)
{
    for (; *names; names++) {
        if (lexer_span_is(name, *names))
            return 1;
    }
    return 0;
}

/* Of the driver, or unknown. */
static void call_outside(struct ptx *ptx, const struct instruction *in, const struct call_text *call)
{
    static const char *const harmless[] = {"vprintf", "__assertfail", "__assert_fail", "free", NULL};
    struct span name = call->name->name;
    struct operand none = {.kind = OPERAND_NONE, .number = NO_REGISTER};
    if (is_any(name, harmless)) {
        ptx->form->facts->flags |= CODE_SYSTEM;
        set_results(ptx, in, call->results, STEP_FLOAT, none);
        return;
    }
    if (lexer_span_is(name, "malloc")) {
        ptx->form->facts->flags |= CODE_HEAP;
        set_results(ptx, in, call->results, STEP_MOVE, (struct operand){.kind = OPERAND_HEAP, .number = NO_REGISTER});
        return;
    }
    ptx_emit_unknown(ptx, lexer_span_begins(name, "cuda") ? CODE_WHY_LAUNCH : CODE_WHY_CALL, in->line,
                     name.size && *name.at != '%' ? name : in->text);
    set_results(ptx, in, call->results, STEP_FORGET, none);
}

static void read_later(struct ptx *ptx, struct function *function)
{
    if (function->number || function->is_wanted)
        return;
    function->number = ++ptx->functions;
    if (ptx->last_read)
        ptx->last_read->next_read = function;
    else
        ptx->first_read = function;
    ptx->last_read = function;
}

static void call_inside(struct ptx *ptx, const struct instruction *in, const struct call_text *call,
                        struct function *function)
{
    struct call_edge *edge = arena_get(ptx->arena, sizeof *edge);
    ptx_declare_signature(ptx, function);
    read_later(ptx, function);
    ptx_circles_keep(ptx, in, function, 0);
    hand_over(ptx, in, call->parameters, &function->parameters, 0);
    uint32_t step = ptx_emit(ptx, in, (struct step){.kind = STEP_CALL, .result = NO_REGISTER});
    if (!edge || step == UINT32_MAX)
        return form_unknown(ptx->form, CODE_WHY_MEMORY, in->line, NULL);
    *edge = (struct call_edge){ptx->calls, ptx->function, function, step};
    ptx->calls = edge;
    ptx_circles_keep(ptx, in, function, 1);
    hand_over(ptx, in, call->results, &function->results, 1);
}

void lower_call(struct ptx *ptx, const struct instruction *in)
{
    struct call_text call;
    if (!call_text(in, &call))
        return ptx_emit_not_known(ptx, in);
    const struct symbol *symbol = call.name->kind == ARGUMENT_NAME ? call.name->symbol : NULL;
    int known = symbol && symbol->kind == SYMBOL_FUNCTION && symbol->function->has_body && !symbol->function->is_entry;
    if (known)
        call_inside(ptx, in, &call, symbol->function);
    else
        call_outside(ptx, in, &call);
    ptx->called = 1;
}
