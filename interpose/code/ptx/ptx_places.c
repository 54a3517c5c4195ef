/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters that are read by a register which has their address: mov %rd1, parameter; add %rd2, %rd1, 8; ld.param [%rd2].
 * Where each register of such a chain is written once, which is known at the function's end, the place is. Called while a
 * function is read.
 */
#include "interpose/code/ptx/ptx.h"

enum { CHAIN = 64 };

static struct ptx_register *register_of(const struct argument *argument)
{
    return argument->kind == ARGUMENT_REGISTER ? argument->origin : NULL;
}

static int is_place(const struct argument *argument)
{
    return argument->kind == ARGUMENT_SYMBOL &&
           (argument->symbol->kind == SYMBOL_PARAMETER || argument->symbol->kind == SYMBOL_PASSED);
}

static void note_sum(struct ptx_register *to, const struct argument *a, const struct argument *b)
{
    const struct ptx_register *first = register_of(a), *second = register_of(b);
    if (!first || !first->place)
        return;
    to->place = first->place;
    to->from = first;
    to->index = second ? second : first->index;
    to->offset = first->offset + (b->kind == ARGUMENT_NUMBER ? b->value : 0);
    if (second && first->index)
        to->place = NULL; /* two indexes */
}

void ptx_places_note(struct ptx *ptx, const struct instruction *in, const struct argument *result)
{
    struct ptx_register *to = register_of(result);
    const struct argument *a = &in->argument[1], *b = &in->argument[2];
    (void)ptx;
    if (!to || in->count < 2)
        return;
    *to = (struct ptx_register){.number = to->number, .definitions = to->definitions};
    if (is_place(a)) {
        to->place = a->symbol;
        to->offset = a->value;
    } else if (in->count == 2) {
        note_sum(to, a, &(struct argument){.kind = ARGUMENT_NUMBER});
    } else if (register_of(a) && register_of(a)->place) {
        note_sum(to, a, b);
    } else {
        note_sum(to, b, a);
    }
}

void ptx_places_wait(struct ptx *ptx, uint32_t step, const struct argument *base, uint32_t bytes)
{
    struct place_wait *wait = arena_get(ptx->arena, sizeof *wait);
    if (!wait || step == UINT32_MAX) {
        form_unknown(ptx->form, CODE_WHY_MEMORY, ptx->lexer.line, NULL);
        return;
    }
    *wait = (struct place_wait){ptx->place_waits, base->origin, base->value, step, bytes};
    ptx->place_waits = wait;
}

int ptx_places_operand(const struct symbol *symbol, int64_t offset, uint32_t bytes, struct operand *operand)
{
    if (offset < 0 || (uint64_t)offset > symbol->size || bytes > symbol->size - (uint64_t)offset)
        return 0;
    *operand = (struct operand){.number = NO_REGISTER, .words = (uint8_t)((bytes + 3) / 4)};
    if (symbol->kind == SYMBOL_PARAMETER) {
        operand->kind = OPERAND_PARAMETER;
        operand->value = symbol->offset + offset;
    } else {
        operand->kind = OPERAND_REGISTER;
        operand->number = (uint16_t)(symbol->number + offset / 4);
    }
    operand->scaled = bytes < 4 || (symbol->kind == SYMBOL_PASSED && offset % 4);
    return 1;
}

/* All of a chain are written once. */
static int is_certain(const struct ptx_register *one)
{
    for (int i = 0; one && i < CHAIN; i++, one = one->from) {
        if (!one->place || one->definitions != 1 || (one->index && one->index->definitions > 1))
            return 0;
        if (!one->from)
            return 1;
    }
    return 0;
}

/* 0: it stays a load by that address. */
static int operand_of(const struct place_wait *wait, struct operand *operand)
{
    const struct ptx_register *from = wait->from;
    if (!is_certain(from))
        return 0;
    int64_t offset = from->offset + wait->offset;
    if (!from->index)
        return ptx_places_operand(from->place, offset, wait->bytes, operand);
    *operand = (struct operand){.kind = OPERAND_PARAMETER,
                                .value = from->place->offset + offset,
                                .number = from->index->number,
                                .words = (uint8_t)((wait->bytes + 3) / 4),
                                .scaled = wait->bytes < 4};
    return from->place->kind == SYMBOL_PARAMETER && from->index->number != NO_REGISTER;
}

static void resolve(struct ptx *ptx, const struct place_wait *wait)
{
    struct step *step = &ptx->form->step[wait->step];
    struct operand operand;
    if (!operand_of(wait, &operand))
        return;
    step->kind = operand.scaled ? STEP_SUM : STEP_MOVE;
    step->sources = 1;
    step->source[0] = operand;
    step->parts = step->narrow = step->use = 0;
}

void ptx_places_resolve(struct ptx *ptx)
{
    for (const struct place_wait *wait = ptx->place_waits; wait; wait = wait->next)
        resolve(ptx, wait);
    ptx->place_waits = NULL;
}
