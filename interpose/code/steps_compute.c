/* SPDX-License-Identifier: Apache-2.0
 *
 * What a step makes of values: the rules by which a pointer stays one. An address begins with a word that was moved, chosen
 * or added; what was multiplied, shifted, subtracted or taken apart is only an offset. Called by the solver for each step,
 * as often as what is known of its sources grows.
 */
#include "interpose/code/steps.h"

static int is_number(const struct solver *solver, value_id id, uint32_t number)
{
    struct value value = steps_value(solver, id);
    return value.known == KNOWN_NUMBER && value.number == number && !value.sums && !value.mixed;
}

static value_id of_words(struct solver *solver, list words, int known)
{
    return values_of(solver->values, (struct value){0, words, known ? KNOWN_NOT : KNOWN_NOTHING, 0});
}

/* A sum so far. */
struct sum {
    list sums, mixed;
    uint32_t known, number;
};

static uint32_t known_of_sum(uint32_t a, uint32_t b, int negated)
{
    if (a == KNOWN_NOTHING || b == KNOWN_NOTHING)
        return KNOWN_NOTHING;
    if (a == KNOWN_NUMBER && b == KNOWN_NUMBER)
        return KNOWN_NUMBER;
    int is_stack = (a == KNOWN_STACK && b == KNOWN_NUMBER) || (a == KNOWN_NUMBER && b == KNOWN_STACK && !negated);
    return is_stack ? KNOWN_STACK : KNOWN_NOT;
}

static void add_to(struct solver *solver, struct sum *sum, value_id id, int negated)
{
    struct value value = steps_value(solver, id);
    if (negated)
        sum->mixed = values_mix(solver->values, sum->mixed, values_all(solver->values, id));
    else {
        sum->mixed = values_mix(solver->values, sum->mixed, value.mixed);
        sum->sums = values_sums(solver->values, sum->sums, value.sums, &sum->mixed);
    }
    sum->known = known_of_sum(sum->known, value.known, negated);
    sum->number += negated ? 0 - value.number : value.number;
}

/* The upper halves of addresses where systems put what has no place of its own. */
enum { UPPER_FIRST = 0x7000, UPPER_END = 0x8000 };

/* An address that is written out in the code, beside a parameter: nothing says that it is a pointer. */
static int is_written_out(struct solver *solver, const struct sum *sum, value_id id)
{
    struct value value = steps_value(solver, id);
    return sum->sums && value.known == KNOWN_NUMBER && !value.sums && !value.mixed && value.number >= UPPER_FIRST &&
           value.number < UPPER_END;
}

static value_id value_of_sum(struct solver *solver, const struct sum *sum)
{
    return values_of(solver->values, (struct value){sum->sums, sum->mixed, sum->known, sum->number});
}

/* Upper words get what the lower ones carry, so their number is known only where it can't be more. */
static value_id do_sum(struct solver *solver, const struct step *step, uint32_t word)
{
    struct sum sum = {0, 0, KNOWN_NUMBER, 0};
    for (uint32_t i = 0; i < step->sources; i++)
        add_to(solver, &sum, steps_source(solver, step, i, word), step->source[i].negated);
    for (uint32_t i = 0; i < step->sources; i++) {
        uint32_t forgotten = token(TOKEN_FORGOTTEN, 0);
        if (is_written_out(solver, &sum, steps_source(solver, step, i, word)))
            sum.mixed = values_mix(solver->values, sum.mixed, values_list(solver->values, &forgotten, 1));
    }
    if (word && sum.known == KNOWN_NUMBER) {
        uint64_t lower = 0;
        for (uint32_t i = 0; i < step->sources; i++) {
            struct value value = steps_value(solver, steps_source(solver, step, i, word - 1));
            if (value.known != KNOWN_NUMBER || (step->source[i].negated && value.number))
                sum.known = KNOWN_NOT;
            lower += value.number;
        }
        sum.number += (uint32_t)(lower >> 32);
    }
    return value_of_sum(solver, &sum);
}

static value_id do_join(struct solver *solver, const struct step *step, uint32_t word)
{
    value_id value = 0;
    for (uint32_t i = 0; i < step->sources; i++)
        value = values_join(solver->values, value, steps_source(solver, step, i, word));
    return value;
}

static value_id do_mix(struct solver *solver, const struct step *step, uint32_t words)
{
    list all = 0;
    int known = 1;
    for (uint32_t i = 0; i < step->sources; i++) {
        for (uint32_t word = 0; word < words; word++) {
            value_id value = steps_source(solver, step, i, word);
            all = values_mix(solver->values, all, values_all(solver->values, value));
            known &= steps_value(solver, value).known != KNOWN_NOTHING;
        }
    }
    return of_words(solver, all, known);
}

/* All words of a factor. */
static list factor(struct solver *solver, const struct step *step, uint32_t i, uint32_t words)
{
    list all = 0;
    for (uint32_t word = 0; word < words; word++)
        all = values_mix(solver->values, all, values_all(solver->values, steps_source(solver, step, i, word)));
    return all;
}

static int is_factor(struct solver *solver, const struct step *step, uint32_t i, uint32_t words, uint32_t number)
{
    int is = is_number(solver, steps_source(solver, step, i, 0), number) && !step->source[i].negated;
    for (uint32_t word = 1; word < words; word++)
        is &= is_number(solver, steps_source(solver, step, i, word), 0);
    return is;
}

static uint32_t known_factors(struct solver *solver, const struct step *step, uint32_t *number)
{
    struct value a = steps_value(solver, steps_source(solver, step, 0, 0)),
                 b = steps_value(solver, steps_source(solver, step, 1, 0));
    if (a.known == KNOWN_NOTHING || b.known == KNOWN_NOTHING)
        return KNOWN_NOTHING;
    *number = a.number * b.number;
    return a.known == KNOWN_NUMBER && b.known == KNOWN_NUMBER && !step->source[0].negated && !step->source[1].negated
               ? KNOWN_NUMBER
               : KNOWN_NOT;
}

/* Times 1 it is the other factor, times 0 nothing. */
static value_id do_product(struct solver *solver, const struct step *step, uint32_t word)
{
    uint32_t words = step->wide || step->upper ? 1 : step->words; /* of the factors */
    uint32_t added = step->upper && step->source[2].words == 2 ? word + 1 : word;
    struct sum sum = {0, 0, KNOWN_NUMBER, 0};
    if (step->sources > 2)
        add_to(solver, &sum, steps_source(solver, step, 2, added), step->source[2].negated);
    if (is_factor(solver, step, 0, words, 0) || is_factor(solver, step, 1, words, 0))
        return value_of_sum(solver, &sum);
    int one = is_factor(solver, step, 1, words, 1) ? 0 : is_factor(solver, step, 0, words, 1) ? 1 : -1;
    if (one >= 0 && !step->upper && word < words) {
        add_to(solver, &sum, steps_source(solver, step, (uint32_t)one, word), step->source[one].negated);
        return value_of_sum(solver, &sum);
    }
    uint32_t number = 0, known = known_factors(solver, step, &number);
    if (words == 1 && !step->upper && word == 0) {
        sum.known = known_of_sum(sum.known, known, 0);
        sum.number += number;
    } else
        sum.known = known == KNOWN_NOTHING ? KNOWN_NOTHING : KNOWN_NOT;
    sum.mixed = values_mix(solver->values, sum.mixed, factor(solver, step, 0, words));
    sum.mixed = values_mix(solver->values, sum.mixed, factor(solver, step, 1, words));
    return value_of_sum(solver, &sum);
}

/* The table's answer for 32 bits of each operand. */
static uint32_t answer(const struct step *step, const uint32_t has[3])
{
    uint32_t result = 0, inverted[3];
    for (uint32_t i = 0; i < 3; i++)
        inverted[i] = i < step->sources && step->source[i].negated ? ~has[i] : has[i];
    for (uint32_t row = 0; row < 8; row++) {
        uint32_t rows = step->table >> row & 1 ? UINT32_MAX : 0;
        for (uint32_t i = 0; i < 3; i++)
            rows &= row >> (2 - i) & 1 ? inverted[i] : ~inverted[i];
        result |= rows;
    }
    return result;
}

/* What it is where the operand that is not a number has no bit, and where it has all. */
struct answers {
    uint32_t of_none, of_all;
};
static struct answers answers(const struct step *step, const uint32_t numbers[3], uint32_t unknown)
{
    uint32_t has[3] = {numbers[0], numbers[1], numbers[2]};
    struct answers both;
    if (unknown < 3)
        has[unknown] = 0;
    both.of_none = answer(step, has);
    if (unknown < 3)
        has[unknown] = UINT32_MAX;
    both.of_all = answer(step, has);
    return both;
}

/* With numbers alone beside it, a word stays a pointer's: bits may be cleared, low ones set, none turned over. */
enum { LOW_BITS = 0xfff };
static int keeps_pointer(struct answers both)
{
    return !(both.of_none & ~both.of_all) && !(both.of_none & both.of_all & ~(uint32_t)LOW_BITS);
}

static value_id do_logic(struct solver *solver, const struct step *step, uint32_t word)
{
    struct value one = {0, 0, KNOWN_NOT, 0};
    uint32_t numbers[3] = {0, 0, 0}, unknown = 3, others = 0, nothing = 0;
    list all = 0;
    for (uint32_t i = 0; i < step->sources && i < 3; i++) {
        value_id id = steps_source(solver, step, i, word);
        struct value value = steps_value(solver, id);
        all = values_mix(solver->values, all, values_all(solver->values, id));
        nothing |= value.known == KNOWN_NOTHING;
        numbers[i] = value.number;
        if (value.known != KNOWN_NUMBER || value.sums || value.mixed) {
            one = value;
            unknown = i;
            others++;
        }
    }
    struct answers both = answers(step, numbers, unknown);
    if (others == 0 || (others == 1 && !nothing && both.of_none == both.of_all))
        return values_number(solver->values, both.of_none);
    if (others > 1 || !keeps_pointer(both))
        return of_words(solver, all, !nothing);
    return values_of(solver->values, (struct value){one.sums, one.mixed, nothing ? KNOWN_NOTHING : KNOWN_NOT, 0});
}

static value_id result_word(struct solver *solver, const struct step *step, uint32_t word)
{
    switch (step->kind) {
    case STEP_MOVE: return steps_source(solver, step, 0, word);
    case STEP_SUM: return do_sum(solver, step, word);
    case STEP_JOIN: return do_join(solver, step, word);
    case STEP_PRODUCT: return do_product(solver, step, word);
    case STEP_LOGIC: return do_logic(solver, step, word);
    case STEP_MIX: return do_mix(solver, step, step->words);
    case STEP_FORGET: return values_token(solver->values, token(TOKEN_FORGOTTEN, 0));
    default: return values_mixed(solver->values, 0);
    }
}

void steps_compute(struct solver *solver, const struct step *step)
{
    value_id made[STEP_WORDS];
    for (uint32_t word = 0; word < step->words && word < STEP_WORDS; word++)
        made[word] = result_word(solver, step, word);
    for (uint32_t word = 0; word < step->words && word < STEP_WORDS; word++)
        registers_set(solver, step->result + word, made[word]);
}
