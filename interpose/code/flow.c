/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways through a kernel: blocks, functions, and which registers must be followed from block to block. Called by the
 * solver alone. A function's state is one for all its calls; what it does not change is each caller's own.
 */
#include "interpose/code/solve.h"

#include <string.h>

static int has_result(const struct step *step)
{
    return step->result != NO_REGISTER && step->words;
}

/* A register that is given a value at one place only has that value wherever it is used. */
static int deal_out_slots(struct solver *solver)
{
    const struct form *form = solver->form;
    uint8_t *times = arena_get(solver->arena, form->registers + STEP_WORDS);
    solver->slot = arena_get(solver->arena, (form->registers + 1) * sizeof *solver->slot);
    solver->alone = arena_get(solver->arena, (form->registers + 1) * sizeof *solver->alone);
    solver->read = arena_get(solver->arena, form->registers + 1);
    if (!times || !solver->slot || !solver->alone || !solver->read)
        return 0;
    for (uint32_t i = 0; i < form->steps; i++) {
        const struct step *step = &form->step[i];
        for (uint32_t word = 0; has_result(step) && word < step->words && step->result + word < form->registers; word++)
            times[step->result + word] += times[step->result + word] < 2;
    }
    for (uint32_t i = 0; i < form->registers; i++)
        solver->slot[i] = times[i] > 1 ? solver->slots++ : NO_SLOT;
    solver->now = arena_get(solver->arena, (solver->slots + 1) * sizeof *solver->now);
    solver->back = arena_get(solver->arena, (solver->slots + 1) * sizeof *solver->back);
    return solver->now && solver->back;
}

static int ends_block(const struct step *step)
{
    return step->kind == STEP_BRANCH || step->kind == STEP_SWITCH || step->kind == STEP_CALL || step->kind == STEP_RETURN ||
           step->kind == STEP_EXIT;
}

static void lead(const struct solver *solver, uint32_t step)
{
    if (step < solver->form->steps)
        solver->block_at[step] = 0;
}

static void find_leaders(struct solver *solver)
{
    const struct form *form = solver->form;
    memset(solver->block_at, 0xff, form->steps * sizeof *solver->block_at);
    lead(solver, 0);
    for (uint32_t i = 0; i < form->steps; i++) {
        const struct step *step = &form->step[i];
        if (step->kind == STEP_BRANCH || step->kind == STEP_CALL)
            lead(solver, step->target);
        for (uint32_t t = 0; step->kind == STEP_SWITCH && t < step->targets && step->target + t < form->target_count; t++)
            lead(solver, form->target[step->target + t]);
        if (ends_block(step) || (i + 1 < form->steps && form->step[i + 1].function != step->function))
            lead(solver, i + 1);
    }
}

static int make_blocks(struct solver *solver)
{
    const struct form *form = solver->form;
    solver->block_at = arena_get(solver->arena, form->steps * sizeof *solver->block_at);
    if (!solver->block_at)
        return 0;
    find_leaders(solver);
    for (uint32_t i = 0; i < form->steps; i++)
        solver->blocks += solver->block_at[i] != NO_BLOCK;
    solver->block = arena_get(solver->arena, (solver->blocks + 1) * sizeof *solver->block);
    solver->queue = arena_get(solver->arena, (solver->blocks / 64 + 1) * sizeof *solver->queue);
    if (!solver->block || !solver->queue)
        return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < form->steps; i++) {
        if (solver->block_at[i] == NO_BLOCK)
            continue;
        if (count)
            solver->block[count - 1].end = i;
        solver->block[count].begin = i;
        solver->block_at[i] = count++;
    }
    solver->block[count - 1].end = form->steps;
    return 1;
}

static void write_bit(const struct solver *solver, uint64_t *writes, uint32_t number)
{
    uint32_t slot = number < solver->form->registers ? solver->slot[number] : NO_SLOT;
    if (slot != NO_SLOT)
        writes[slot / 64] |= 1ull << slot % 64;
}

/* Until nothing changes: a function changes what those change that it calls. */
static void close_writes(const struct solver *solver)
{
    uint32_t words = solver->slots / 64 + 1;
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t i = 1; i <= solver->calls; i++) {
            const struct step *step = &solver->form->step[solver->call[i].step];
            uint64_t *to = solver->function[step->function].writes;
            const uint64_t *from = solver->function[solver->form->step[step->target].function].writes;
            for (uint32_t w = 0; w < words; w++) {
                changed |= (from[w] & ~to[w]) != 0;
                to[w] |= from[w];
            }
        }
    }
}

static int make_functions(struct solver *solver)
{
    const struct form *form = solver->form;
    uint32_t words = solver->slots / 64 + 1;
    for (uint32_t i = 0; i < form->steps; i++) {
        if (form->step[i].function >= solver->functions)
            solver->functions = form->step[i].function + 1;
    }
    if (solver->functions > form->steps)
        return 0;
    solver->function = arena_get(solver->arena, solver->functions * sizeof *solver->function);
    for (uint32_t i = 0; solver->function && i < solver->functions; i++) {
        solver->function[i].writes = arena_get(solver->arena, words * sizeof(uint64_t));
        if (!solver->function[i].writes)
            return 0;
    }
    for (uint32_t i = 0; solver->function && i < form->steps; i++) {
        const struct step *step = &form->step[i];
        for (uint32_t word = 0; has_result(step) && word < step->words; word++)
            write_bit(solver, solver->function[step->function].writes, step->result + word);
    }
    return solver->function != NULL;
}

static int make_calls(struct solver *solver)
{
    const struct form *form = solver->form;
    uint32_t count = 0;
    for (uint32_t i = 0; i < form->steps; i++)
        count += form->step[i].kind == STEP_CALL && form->step[i].target < form->steps;
    solver->call = arena_get(solver->arena, (count + 1) * sizeof *solver->call);
    solver->call_at = arena_get(solver->arena, form->steps * sizeof *solver->call_at);
    if (!solver->call || !solver->call_at)
        return 0;
    for (uint32_t i = 0; i < form->steps; i++) {
        if (form->step[i].kind != STEP_CALL || form->step[i].target >= form->steps)
            continue;
        struct function *of = &solver->function[form->step[form->step[i].target].function];
        solver->call_at[i] = ++solver->calls;
        solver->call[solver->calls] = (struct call){i, of->first_call, NULL};
        of->first_call = solver->calls;
    }
    close_writes(solver);
    return 1;
}

int flow_begin(struct solver *solver)
{
    return solver->form->steps && deal_out_slots(solver) && make_blocks(solver) && make_functions(solver) &&
           make_calls(solver);
}

static void enqueue(struct solver *solver, uint32_t block)
{
    solver->queue[block / 64] |= 1ull << block % 64;
    if (block / 64 < solver->queue_first)
        solver->queue_first = block / 64;
}

/* The first of them by the code's order, in which most values are known before they are used. */
struct block *flow_next(struct solver *solver)
{
    for (; solver->queue_first <= solver->blocks / 64; solver->queue_first++) {
        uint64_t *word = &solver->queue[solver->queue_first];
        if (*word) {
            uint32_t block = solver->queue_first * 64 + (uint32_t)__builtin_ctzll(*word);
            *word &= *word - 1;
            return &solver->block[block];
        }
    }
    return NULL;
}

static value_id *new_state(struct solver *solver, const value_id *state)
{
    value_id *made = arena_get(solver->arena, (solver->slots + 1) * sizeof *made);
    if (made)
        memcpy(made, state, solver->slots * sizeof *made);
    else
        solver->values->failed = 1;
    return made;
}

/* 1: it has become more. */
static int join_state(struct solver *solver, value_id *into, const value_id *state)
{
    int changed = 0;
    for (uint32_t i = 0; i < solver->slots; i++) {
        if (into[i] == state[i] || !state[i])
            continue;
        value_id both = values_join(solver->values, into[i], state[i]);
        changed |= both != into[i];
        into[i] = both;
    }
    return changed;
}

static value_id value_in(const struct solver *solver, const value_id *state, uint32_t number)
{
    uint32_t slot = solver->slot[number];
    return slot == NO_SLOT ? solver->alone[number] : state[slot];
}

static const struct guarded *find_guarded(const struct guarded *all, uint32_t count, const struct guarded *like)
{
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].guard == like->guard && all[i].number == like->number)
            return &all[i];
    }
    return NULL;
}

/* Where one way knows nothing of a register under a guard, it has there what it has without. 1: something has become more.
 */
static int join_guards(struct solver *solver, struct block *block, const value_id *state)
{
    int changed = 0;
    for (uint32_t i = 0; i < block->guards; i++) {
        struct guarded *old = &block->guarded[i];
        const struct guarded *one = find_guarded(solver->guarded, solver->guards, old);
        value_id both = values_join(solver->values, old->value, one ? one->value : value_in(solver, state, old->number));
        changed |= both != old->value;
        old->value = both;
    }
    return changed;
}

static void keep_guards(struct solver *solver, struct block *block)
{
    block->guards = 0;
    if (!solver->guards)
        return;
    block->guarded = arena_get(solver->arena, solver->guards * sizeof *block->guarded);
    if (!block->guarded)
        return;
    memcpy(block->guarded, solver->guarded, solver->guards * sizeof *block->guarded);
    block->guards = solver->guards;
}

void flow_to(struct solver *solver, uint32_t step, const value_id *state)
{
    if (step >= solver->form->steps) {
        form_unknown(solver->form, CODE_WHY_BRANCH, 0, "behind the code's end");
        return;
    }
    struct block *block = &solver->block[solver->block_at[step]];
    int changed = !block->in;
    if (block->in) {
        changed |= join_guards(solver, block, state);
        changed |= join_state(solver, block->in, state);
    } else {
        block->in = new_state(solver, state);
        keep_guards(solver, block);
    }
    if (changed && block->in)
        enqueue(solver, (uint32_t)(block - solver->block));
}

/* On a way that is taken where the guard holds, registers have what they have under it. */
void flow_under(struct solver *solver, uint32_t step, uint32_t guard)
{
    memcpy(solver->back, solver->now, solver->slots * sizeof *solver->back);
    for (uint32_t i = 0; guard && i < solver->guards; i++) {
        uint32_t slot = solver->slot[solver->guarded[i].number];
        if (solver->guarded[i].guard == guard && slot != NO_SLOT)
            solver->back[slot] = solver->guarded[i].value;
    }
    flow_to(solver, step, solver->back);
}

/* What the caller has behind the call: its own registers, but for those that the function may have changed. The stack's
 * pointer is where it was. */
static void come_back(struct solver *solver, const struct call *call, const struct function *function)
{
    value_id *state = solver->back;
    registers_no_guards(solver);
    for (uint32_t i = 0; i < solver->slots; i++) {
        int is_changed = function->writes[i / 64] >> i % 64 & 1;
        state[i] = is_changed ? function->out[i] : call->before[i];
    }
    uint32_t stack = solver->form->stack_register;
    if (stack && stack < solver->form->registers && solver->slot[stack] != NO_SLOT)
        state[solver->slot[stack]] = call->before[solver->slot[stack]];
    flow_to(solver, call->step + 1, state);
}

void flow_call(struct solver *solver, uint32_t step)
{
    struct call *call = &solver->call[solver->call_at[step]];
    const struct step *at = &solver->form->step[step];
    const struct function *function = &solver->function[solver->form->step[at->target].function];
    if (!call->before)
        call->before = new_state(solver, solver->now);
    else
        join_state(solver, call->before, solver->now);
    registers_no_guards(solver);
    flow_to(solver, at->target, solver->now);
    if (call->before && function->out)
        come_back(solver, call, function);
}

void flow_return(struct solver *solver, uint32_t step)
{
    struct function *function = &solver->function[solver->form->step[step].function];
    if (function->out && !join_state(solver, function->out, solver->now))
        return;
    if (!function->out)
        function->out = new_state(solver, solver->now);
    for (uint32_t i = function->first_call; function->out && i; i = solver->call[i].next) {
        if (solver->call[i].before)
            come_back(solver, &solver->call[i], function);
    }
}

void flow_again(struct solver *solver)
{
    for (uint32_t i = 0; i < solver->blocks; i++) {
        if (solver->block[i].in)
            enqueue(solver, i);
    }
}
