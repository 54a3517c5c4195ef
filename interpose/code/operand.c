/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operand is worth, word by word. Called for each source of each step.
 */
#include "interpose/code/solve.h"

static value_id at_stack(struct solver *solver, uint32_t word, int64_t at)
{
    if (word)
        return values_token(solver->values, token(TOKEN_OTHER, 0));
    uint32_t stack = token(TOKEN_STACK, 0);
    list sum = values_list(solver->values, &stack, 1);
    return values_of(solver->values, (struct value){values_list(solver->values, &sum, 1), 0, KNOWN_STACK, (uint32_t)at});
}

/* 1: the place is known, and added. 0: it may be any. */
static int add_index(const struct solver *solver, const struct operand *operand, int64_t *at)
{
    if (operand->number == NO_REGISTER)
        return 1;
    struct value index = solver->values->value[registers_get(solver, operand->number)];
    if (index.known == KNOWN_NUMBER)
        *at += (int32_t)index.number;
    return index.known == KNOWN_NUMBER;
}

static value_id of_parameters(struct solver *solver, const struct operand *operand, uint32_t word)
{
    int64_t at = operand->value + 4 * (int64_t)word;
    if (!add_index(solver, operand, &at))
        return values_token(solver->values, token(TOKEN_RANGE, word & 1));
    if (at < 0 || at >= 1 << 16)
        return values_token(solver->values, token(TOKEN_FORGOTTEN, 0));
    return values_token(solver->values, token(TOKEN_PARAMETER, (uint32_t)at));
}

static value_id of_bank(struct solver *solver, const struct operand *operand, uint32_t word)
{
    int64_t at = operand->value + 4 * (int64_t)word;
    uint32_t variable = (uint32_t)operand->variable << DATA_BITS;
    if (operand->variable >= CODE_VARIABLES)
        return values_token(solver->values, token(TOKEN_FORGOTTEN, 0));
    if (!add_index(solver, operand, &at) || at < 0 || at >= DATA_ANYWHERE)
        return values_token(solver->values, token(TOKEN_DATA, variable | DATA_ANYWHERE | (word & 1)));
    return values_token(solver->values, token(TOKEN_DATA, variable | (uint32_t)at));
}

static value_id whole(struct solver *solver, const struct operand *operand, uint32_t word)
{
    switch (operand->kind) {
    case OPERAND_REGISTER: return registers_get(solver, operand->number + word);
    case OPERAND_CONSTANT:
        return values_number(solver->values, word > 1 ? 0 : (uint32_t)((uint64_t)operand->value >> 32 * word));
    case OPERAND_PARAMETER: return of_parameters(solver, operand, word);
    case OPERAND_BANK: return of_bank(solver, operand, word);
    case OPERAND_ADDRESS: return values_token(solver->values, token(TOKEN_VARIABLE, operand->variable));
    case OPERAND_STACK: return at_stack(solver, word, operand->value);
    case OPERAND_PARAMETERS_AT: return values_token(solver->values, token(TOKEN_PLACE, 0));
    case OPERAND_HEAP: return values_token(solver->values, token(TOKEN_HEAP, 0));
    case OPERAND_OTHER: return values_token(solver->values, token(TOKEN_OTHER, 0));
    default: return values_number(solver->values, 0);
    }
}

value_id operand_value(struct solver *solver, const struct operand *operand, uint32_t word)
{
    if (operand->words && word >= operand->words)
        return values_number(solver->values, 0);
    value_id value = whole(solver, operand, word);
    return operand->scaled && value ? values_mixed(solver->values, values_all(solver->values, value)) : value;
}

static value_id add(struct solver *solver, value_id sum, value_id value)
{
    struct value a = solver->values->value[sum], b = solver->values->value[value], both = {0, 0, KNOWN_NOT, 0};
    both.mixed = values_mix(solver->values, a.mixed, b.mixed);
    both.sums = values_sums(solver->values, a.sums, b.sums, &both.mixed);
    if (a.known == KNOWN_NUMBER && (b.known == KNOWN_NUMBER || b.known == KNOWN_STACK))
        both.known = b.known, both.number = a.number + b.number;
    else if (a.known == KNOWN_STACK && b.known == KNOWN_NUMBER)
        both.known = KNOWN_STACK, both.number = a.number + b.number;
    else if (a.known == KNOWN_NOTHING || b.known == KNOWN_NOTHING)
        both.known = KNOWN_NOTHING;
    return values_of(solver->values, both);
}

struct address operand_address(struct solver *solver, const struct step *step)
{
    value_id zero = values_number(solver->values, 0);
    struct address address = {zero, zero};
    for (uint32_t i = 0; i < step->parts && i < ADDRESS_PARTS; i++) {
        const struct operand *part = &step->part[i];
        if (part->kind == OPERAND_NONE)
            continue;
        address.low = add(solver, address.low, operand_value(solver, part, 0));
        address.high = add(solver, address.high, operand_value(solver, part, 1));
    }
    return address;
}
