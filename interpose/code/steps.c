/* SPDX-License-Identifier: Apache-2.0
 *
 * One step: which of its parts matter, and what accesses bring from memory and leave there. Called by the solver. Of global
 * memory only the place is remembered that something was loaded from; local and shared memory are the kernel's own, so what
 * lies there is known.
 */
#include "interpose/code/steps.h"

static int has_kind(const struct solver *solver, value_id id, uint32_t kinds)
{
    const struct values *values = solver->values;
    list sums = values->value[id].sums;
    for (uint32_t i = 0; i < values_count(values, sums); i++) {
        list sum = values_at(values, sums, i);
        for (uint32_t j = 0; j < values_count(values, sum); j++) {
            if (kinds >> token_kind(values_at(values, sum, j)) & 1)
                return 1;
        }
    }
    return 0;
}

enum {
    POINTERS = 1u << TOKEN_PARAMETER | 1u << TOKEN_VARIABLE | 1u << TOKEN_LOADED | 1u << TOKEN_DATA | 1u << TOKEN_RANGE |
               1u << TOKEN_HEAP | 1u << TOKEN_PLACE
};

/* Whether a generic address may lie in local or shared memory: it does not begin with a pointer alone. */
static int may_be_own(const struct solver *solver, struct address address)
{
    const uint32_t windows = 1u << TOKEN_OTHER | 1u << TOKEN_STACK | 1u << TOKEN_FORGOTTEN;
    if (steps_value(solver, address.high).known == KNOWN_NOTHING && !steps_value(solver, address.high).sums)
        return 0;
    return has_kind(solver, address.high, windows) || has_kind(solver, address.low, 1u << TOKEN_STACK) ||
           !has_kind(solver, address.high, POINTERS);
}

static value_id loaded(struct solver *solver, uint32_t number, const struct step *step, uint32_t word)
{
    uint32_t made = token(TOKEN_LOADED, number << LOADED_BITS | word);
    return step->narrow ? values_mixed(solver->values, values_list(solver->values, &made, 1))
                        : values_token(solver->values, made);
}

static value_id without_pointers(struct solver *solver, const struct step *step, value_id value)
{
    return step->narrow ? values_mixed(solver->values, values_all(solver->values, value)) : value;
}

static value_id from_stack(struct solver *solver, struct address address, uint32_t word)
{
    struct value low = steps_value(solver, address.low);
    if (low.known == KNOWN_STACK)
        return registers_stack(solver, (int32_t)(low.number + 4 * word));
    return low.known == KNOWN_NOTHING ? 0 : registers_stack_all(solver);
}

static value_id from_shared(struct solver *solver, const struct step *step, uint32_t word)
{
    return registers_shared(solver, step->words > 1 ? word : (uint32_t)SHARED_EITHER);
}

/* A generic address that is surely the stack's. */
static int is_stack(const struct solver *solver, const struct step *step, struct address address)
{
    return step->space == SPACE_LOCAL ||
           (step->space == SPACE_GENERIC && steps_value(solver, address.low).known == KNOWN_STACK &&
            may_be_own(solver, address) && !has_kind(solver, address.high, POINTERS));
}

static value_id load_word(struct solver *solver, uint32_t number, struct address address, uint32_t word)
{
    const struct step *step = &solver->form->step[number];
    if (is_stack(solver, step, address))
        return without_pointers(solver, step, from_stack(solver, address, word));
    if (step->space == SPACE_SHARED)
        return without_pointers(solver, step, from_shared(solver, step, word));
    value_id value = loaded(solver, number, step, word);
    if (step->space == SPACE_GENERIC && may_be_own(solver, address)) {
        value_id own = values_join(solver->values, from_stack(solver, address, word), from_shared(solver, step, word));
        value = values_join(solver->values, value, without_pointers(solver, step, own));
    }
    return value;
}

static void to_stack(struct solver *solver, struct address address, uint32_t word, value_id value)
{
    struct value low = steps_value(solver, address.low);
    if (low.known == KNOWN_STACK)
        registers_to_stack(solver, (int32_t)(low.number + 4 * word), value);
    else if (low.known != KNOWN_NOTHING)
        registers_to_stack_any(solver, value);
}

static void store_word(struct solver *solver, const struct step *step, struct address address, uint32_t word,
                       value_id value)
{
    uint32_t place = step->words > 1 ? word : (uint32_t)SHARED_EITHER;
    value = without_pointers(solver, step, value);
    if (is_stack(solver, step, address))
        to_stack(solver, address, word, value);
    else if (step->space == SPACE_SHARED)
        registers_to_shared(solver, place, value);
    else if (step->space == SPACE_GENERIC && may_be_own(solver, address)) {
        to_stack(solver, address, word, value);
        registers_to_shared(solver, place, value);
    }
}

static int is_seen(const struct step *step)
{
    return step->space == SPACE_GLOBAL || step->space == SPACE_GENERIC || step->space == SPACE_CONSTANT;
}

static void access(struct solver *solver, uint32_t number)
{
    const struct step *step = &solver->form->step[number];
    struct address address = operand_address(solver, step);
    value_id made[STEP_WORDS];
    if (solver->accesses && is_seen(step))
        accesses_add(solver, number, step, address);
    for (uint32_t word = 0; step->result != NO_REGISTER && word < step->words && word < STEP_WORDS; word++)
        made[word] = load_word(solver, number, address, word);
    for (uint32_t i = 0; i < step->sources; i++) {
        for (uint32_t word = 0; word < step->words && word < STEP_WORDS; word++)
            store_word(solver, step, address, word, steps_source(solver, step, i, word));
    }
    for (uint32_t word = 0; step->result != NO_REGISTER && word < step->words && word < STEP_WORDS; word++)
        registers_set(solver, step->result + word, made[word]);
}

/* Global memory comes into shared memory without a register. */
static void stage(struct solver *solver, uint32_t number)
{
    const struct step *step = &solver->form->step[number];
    struct address address = operand_address(solver, step);
    if (solver->accesses)
        accesses_add(solver, number, step, address);
    for (uint32_t word = 0; step->use & CODE_READ && word < 2; word++)
        registers_to_shared(solver, step->words > 1 ? word : (uint32_t)SHARED_EITHER,
                            values_token(solver->values, token(TOKEN_LOADED, number << LOADED_BITS | word)));
}

static void texture(struct solver *solver, const struct step *step)
{
    if (solver->accesses)
        accesses_handle(solver, step, steps_source(solver, step, 0, 0));
    if (step->result != NO_REGISTER)
        steps_compute(solver, step);
}

static void tensor(struct solver *solver, uint32_t number)
{
    const struct step *step = &solver->form->step[number];
    if (solver->accesses)
        accesses_tensor(solver, step, operand_address(solver, step));
    if (step->use & CODE_READ)
        registers_to_shared(solver, SHARED_EITHER, values_token(solver->values, token(TOKEN_FORGOTTEN, 0)));
    if (step->result != NO_REGISTER)
        steps_compute(solver, step);
}

void steps_do(struct solver *solver, uint32_t number)
{
    const struct step *step = &solver->form->step[number];
    if (solver->accesses)
        accesses_banks(solver, step);
    solver->guard = step->guard ? (uint32_t)step->guard << 1 | (step->guard_negated != 0) : 0;
    switch (step->kind) {
    case STEP_MOVE:
    case STEP_SUM:
    case STEP_JOIN:
    case STEP_PRODUCT:
    case STEP_LOGIC:
    case STEP_MIX:
    case STEP_FLOAT:
    case STEP_FORGET:
        if (step->result != NO_REGISTER)
            steps_compute(solver, step);
        break;
    case STEP_LOAD:
    case STEP_STORE:
    case STEP_ATOMIC: access(solver, number); break;
    case STEP_STAGE: stage(solver, number); break;
    case STEP_TEXTURE: texture(solver, step); break;
    case STEP_TENSOR: tensor(solver, number); break;
    default: break;
    }
    for (uint32_t i = 0; i < STEP_PREDICATES; i++) {
        if (step->sets[i])
            registers_predicate(solver, step->sets[i]);
    }
}
