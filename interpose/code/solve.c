/* SPDX-License-Identifier: Apache-2.0
 *
 * From the small form to facts: goes through a kernel's blocks until nothing more becomes known of any value, then looks
 * once at every address. Called by code_read. Bounded by steps, not by time, so that the same kernel has the same facts
 * everywhere.
 */
#include "interpose/code/solve.h"

#include "interpose/code/extents/extent_make.h"

enum { STEPS_EACH = 24, STEPS_LEAST = 100000 };

/* What holds where a step is done; 0: anything may, also where it holds that it is not done. */
static uint32_t guard_of(const struct step *step)
{
    return step->guard && !step->maybe ? (uint32_t)step->guard << 1 | (step->guard_negated != 0) : 0;
}

static void go_on(struct solver *solver, const struct block *block)
{
    uint32_t last = block->end - 1;
    const struct step *step = &solver->form->step[last];
    int is_sure = !step->guard && !step->maybe;
    uint32_t guard = guard_of(step), otherwise = guard ? guard ^ 1 : 0;
    switch (step->kind) {
    case STEP_BRANCH: flow_under(solver, step->target, guard); break;
    case STEP_SWITCH:
        for (uint32_t i = 0; i < step->targets && step->target + i < solver->form->target_count; i++)
            flow_under(solver, solver->form->target[step->target + i], guard);
        break;
    case STEP_CALL: flow_call(solver, last); break;
    case STEP_RETURN: flow_return(solver, last); break;
    case STEP_EXIT: break;
    default:
        is_sure = 0;
        otherwise = 0;
        break;
    }
    if (is_sure)
        return;
    if (block->end < solver->form->steps && solver->form->step[block->end].function == step->function)
        flow_under(solver, block->end, otherwise);
    else
        form_unknown(solver->form, CODE_WHY_BRANCH, step->at, "behind the code's end");
}

static void go_through(struct solver *solver, const struct block *block)
{
    for (uint32_t i = 0; i < solver->slots; i++)
        solver->now[i] = block->in[i];
    registers_take_guards(solver, block);
    for (uint32_t i = block->begin; i < block->end; i++)
        steps_do(solver, i);
    solver->guard = 0;
}

/* 0: it took too long, or there was no memory. */
static int settle(struct solver *solver)
{
    do {
        solver->changed = 0;
        for (const struct block *block; (block = flow_next(solver)) != NULL;) {
            uint64_t steps = block->end - block->begin;
            if (steps > solver->steps_left || solver->values->failed)
                return 0;
            solver->steps_left -= steps;
            go_through(solver, block);
            go_on(solver, block);
        }
        if (solver->changed)
            flow_again(solver);
    } while (solver->changed);
    return 1;
}

static void look(struct solver *solver)
{
    if (!accesses_begin(solver)) {
        solver->values->failed = 1;
        return;
    }
    for (uint32_t i = 0; i < solver->blocks && !solver->values->failed; i++) {
        if (solver->block[i].in)
            go_through(solver, &solver->block[i]);
    }
    if (!solver->values->failed)
        accesses_facts(solver);
    if (!solver->values->failed && solver->form->facts->verdict != CODE_UNKNOWN)
        extent_make(solver);
}

void solve(struct form *form)
{
    struct solver solver = {.form = form, .arena = form->arena};
    solver.steps_left = (uint64_t)form->steps * STEPS_EACH + STEPS_LEAST;
    solver.values = arena_get(form->arena, sizeof *solver.values);
    solver.stack = arena_get(form->arena, STACK_PLACES * sizeof *solver.stack);
    if (form->steps >= 1u << (TOKEN_BITS - LOADED_BITS)) {
        form_unknown(form, CODE_WHY_LONG, 0, NULL);
        return;
    }
    if (!form->steps || !solver.values || !solver.stack || !values_begin(solver.values, form->arena) ||
        !flow_begin(&solver)) {
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
        return;
    }
    flow_to(&solver, 0, solver.now);
    if (settle(&solver))
        look(&solver);
    else if (!solver.values->failed)
        form_unknown(form, CODE_WHY_LONG, 0, NULL);
    if (solver.values->failed)
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
}
