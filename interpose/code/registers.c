/* SPDX-License-Identifier: Apache-2.0
 *
 * What registers have, also while a guard holds, and what lies in local and shared memory. Called for each word of each
 * step. Memory only ever gets more: whatever was put there once may be there.
 */
#include "interpose/code/solve.h"

#include <string.h>

static value_id *place_of(const struct solver *solver, uint32_t number)
{
    uint32_t slot = solver->slot[number];
    return slot == NO_SLOT ? &solver->alone[number] : &solver->now[slot];
}

static struct guarded *find_guarded(const struct solver *solver, uint32_t guard, uint32_t number)
{
    for (uint32_t i = 0; i < solver->guards; i++) {
        const struct guarded *one = &solver->guarded[i];
        if (one->guard == guard && one->number == number)
            return (struct guarded *)one;
    }
    return NULL;
}

value_id registers_get(const struct solver *solver, uint32_t number)
{
    if (number >= solver->form->registers)
        return 0;
    solver->read[number] = 1;
    const struct guarded *guarded = solver->guard ? find_guarded(solver, solver->guard, number) : NULL;
    return guarded ? guarded->value : *place_of(solver, number);
}

static void forget_at(struct solver *solver, uint32_t i)
{
    solver->guarded[i] = solver->guarded[--solver->guards];
}

static void forget_number(struct solver *solver, uint32_t number)
{
    for (uint32_t i = solver->guards; i-- > 0;) {
        if (solver->guarded[i].number == number)
            forget_at(solver, i);
    }
}

static void keep_guarded(struct solver *solver, uint32_t guard, uint32_t number, value_id value)
{
    struct guarded *one = find_guarded(solver, guard, number);
    if (one)
        one->value = value;
    else if (solver->guards < GUARDED)
        solver->guarded[solver->guards++] = (struct guarded){guard, number, value};
}

/* Where the guard does not hold, the register has what it had. */
static void set_guarded(struct solver *solver, uint32_t number, value_id value)
{
    for (uint32_t i = 0; i < solver->guards; i++) {
        struct guarded *one = &solver->guarded[i];
        if (one->number == number && one->guard >> 1 != solver->guard >> 1)
            one->value = values_join(solver->values, one->value, value);
    }
    if (!find_guarded(solver, solver->guard ^ 1, number))
        keep_guarded(solver, solver->guard ^ 1, number, *place_of(solver, number));
    keep_guarded(solver, solver->guard, number, value);
}

void registers_set(struct solver *solver, uint32_t number, value_id value)
{
    if (number >= solver->form->registers)
        return;
    value_id *place = place_of(solver, number);
    if (solver->guard)
        set_guarded(solver, number, value);
    else if (solver->guards)
        forget_number(solver, number);
    if (solver->slot[number] == NO_SLOT) {
        value_id both = values_join(solver->values, *place, value);
        if (both != *place && solver->read[number]) {
            solver->changed = 1;
            solver->read[number] = 0;
        }
        *place = both;
    } else
        *place = solver->guard ? values_join(solver->values, *place, value) : value;
}

void registers_predicate(struct solver *solver, uint32_t predicate)
{
    for (uint32_t i = solver->guards; i-- > 0;) {
        if (predicate == ALL_PREDICATES || solver->guarded[i].guard >> 1 == predicate)
            forget_at(solver, i);
    }
}

void registers_no_guards(struct solver *solver)
{
    solver->guards = 0;
}

void registers_take_guards(struct solver *solver, const struct block *block)
{
    solver->guards = block->guards;
    if (block->guards)
        memcpy(solver->guarded, block->guarded, block->guards * sizeof *block->guarded);
}

static struct stack_place *stack_place(const struct solver *solver, int32_t at)
{
    uint32_t i = (uint32_t)at * 0x9e3779b1u >> 20;
    for (uint32_t tries = 0; tries < 64; tries++, i++) {
        struct stack_place *place = &solver->stack[i % STACK_PLACES];
        if (!place->used || place->at == at)
            return place;
    }
    return NULL;
}

value_id registers_stack(struct solver *solver, int32_t at)
{
    solver->memory_read = 1;
    const struct stack_place *place = stack_place(solver, at);
    value_id there = place && place->used ? place->value : 0;
    return values_join(solver->values, there, solver->stack_any);
}

value_id registers_stack_all(struct solver *solver)
{
    solver->memory_read = 1;
    return solver->stack_all;
}

value_id registers_shared(struct solver *solver, uint32_t word)
{
    solver->memory_read = 1;
    return word == SHARED_EITHER ? values_join(solver->values, solver->shared[0], solver->shared[1])
                                 : solver->shared[word & 1];
}

static void more(struct solver *solver, value_id *place, value_id value)
{
    value_id both = values_join(solver->values, *place, value);
    if (both != *place && solver->memory_read) {
        solver->changed = 1;
        solver->memory_read = 0;
    }
    *place = both;
}

void registers_to_stack_any(struct solver *solver, value_id value)
{
    more(solver, &solver->stack_any, value);
    more(solver, &solver->stack_all, value);
}

void registers_to_stack(struct solver *solver, int32_t at, value_id value)
{
    struct stack_place *place = stack_place(solver, at);
    if (!place) {
        registers_to_stack_any(solver, value);
        return;
    }
    place->at = at;
    place->used = 1;
    more(solver, &place->value, value);
    more(solver, &solver->stack_all, value);
}

void registers_to_shared(struct solver *solver, uint32_t word, value_id value)
{
    if (word == SHARED_EITHER) {
        more(solver, &solver->shared[0], value);
        more(solver, &solver->shared[1], value);
    } else
        more(solver, &solver->shared[word & 1], value);
}
