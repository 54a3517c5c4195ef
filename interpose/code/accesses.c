/* SPDX-License-Identifier: Apache-2.0
 *
 * With what addresses begin. The rule: the high word of an address contains, added and neither multiplied nor shifted, the
 * high word of a pointer whose low word is part of the address' low word. What an index adds never comes into the high word
 * that way. Called by the solver when all values are known, once for each step; what fits no rule makes the kernel unknown.
 */
#include "interpose/code/accesses.h"

#include <string.h>

/* The words of one address, while it is looked at. */
struct looked {
    struct solver *solver;
    const struct step *step;
    uint32_t seen;
    list high, low; /* words of the sums of each half */
    int found, own; /* beginnings; ways into the kernel's own memory */
};

static void *grown(struct solver *solver, const void *old, uint32_t count, uint32_t *room, size_t size)
{
    uint32_t wanted = *room ? *room * 2 : 256;
    void *now = arena_get(solver->arena, wanted * size);
    if (!now) {
        solver->values->failed = 1;
        return NULL;
    }
    if (count)
        memcpy(now, old, count * size);
    *room = wanted;
    return now;
}

int accesses_begin(struct solver *solver)
{
    solver->accesses = arena_get(solver->arena, sizeof *solver->accesses);
    if (!solver->accesses)
        return 0;
    solver->accesses->seen_at = arena_get(solver->arena, solver->form->steps * sizeof(uint32_t));
    return solver->accesses->seen_at != NULL;
}

static int is_same(const struct beginning *a, const struct beginning *b)
{
    return a->count == b->count && a->either == b->either && memcmp(a->term, b->term, a->count * sizeof *a->term) == 0;
}

/* Its number; UINT32_MAX: there is no memory. */
static uint32_t number_of(struct solver *solver, const struct beginning *beginning)
{
    struct accesses *all = solver->accesses;
    for (uint32_t i = 0; i < all->beginnings; i++) {
        if (is_same(&all->beginning[i], beginning))
            return i;
    }
    if (all->beginnings == all->beginning_room) {
        void *now = grown(solver, all->beginning, all->beginnings, &all->beginning_room, sizeof *all->beginning);
        if (!now)
            return UINT32_MAX;
        all->beginning = now;
    }
    all->beginning[all->beginnings] = *beginning;
    return all->beginnings++;
}

static void add_beginning(struct looked *looked, const struct beginning *beginning)
{
    struct accesses *all = looked->solver->accesses;
    uint32_t number = number_of(looked->solver, beginning);
    if (number == UINT32_MAX)
        return;
    if (all->numbers == all->number_room) {
        void *now = grown(looked->solver, all->number, all->numbers, &all->number_room, sizeof *all->number);
        if (!now)
            return;
        all->number = now;
    }
    all->number[all->numbers++] = number;
    all->seen[looked->seen].count++;
    looked->found = 1;
}

static int add_term(struct beginning *beginning, uint8_t kind, uint32_t low, uint32_t high)
{
    struct term term = {kind, low, high};
    for (uint32_t i = 0; i < beginning->count; i++) {
        if (memcmp(&beginning->term[i], &term, sizeof term) == 0)
            return 1;
    }
    if (beginning->count == CODE_TERMS)
        return 0;
    beginning->term[beginning->count++] = term;
    return 1;
}

static int has(const struct looked *looked, list words, enum token_kind kind, uint32_t what)
{
    return values_has(looked->solver->values, words, token(kind, what));
}

/* Low words whose own high word is not there: one of them may be the other half of a high word without its low one. */
static int add_halves(const struct looked *looked, struct beginning *beginning, uint32_t high)
{
    const struct values *values = looked->solver->values;
    int found = 0;
    for (uint32_t i = 0; i < values_count(values, looked->low); i++) {
        uint32_t word = values_at(values, looked->low, i), what = token_what(word);
        if (token_kind(word) != TOKEN_PARAMETER || has(looked, looked->high, TOKEN_PARAMETER, what + 4))
            continue;
        if (!add_term(beginning, CODE_PARAMETER, what, high))
            return 0;
        found = 1;
    }
    return found;
}

static int add_loaded_halves(const struct looked *looked, struct beginning *beginning)
{
    const struct values *values = looked->solver->values;
    int found = 0;
    for (uint32_t i = 0; i < values_count(values, looked->low); i++) {
        uint32_t word = values_at(values, looked->low, i), what = token_what(word);
        if (token_kind(word) == TOKEN_DATA && !has(looked, looked->high, TOKEN_DATA, what + 4)) {
            if (!add_term(beginning, BEGINS_DATA, what >> DATA_BITS, 0))
                return 0;
        } else if (token_kind(word) == TOKEN_LOADED && !has(looked, looked->high, TOKEN_LOADED, what + 1)) {
            if (!add_term(beginning, CODE_LOADED, what >> LOADED_BITS, 0))
                return 0;
        } else
            continue;
        found = 1;
    }
    return found;
}

/* NOISE: of words that lay in shared memory nobody knows which half each is. */
enum outcome { UNKNOWN, KNOWN, NOISE, OWN };

static enum outcome parameter(const struct looked *looked, struct beginning *beginning, uint32_t what)
{
    if (what >= 4 && has(looked, looked->low, TOKEN_PARAMETER, what - 4))
        return add_term(beginning, CODE_PARAMETER, what - 4, what) ? KNOWN : UNKNOWN;
    if (has(looked, looked->high, TOKEN_PARAMETER, what + 4))
        return NOISE;
    return add_halves(looked, beginning, what) ? KNOWN : UNKNOWN;
}

static enum outcome of_load(const struct looked *looked, struct beginning *beginning, uint32_t what)
{
    uint32_t word = what & ((1u << LOADED_BITS) - 1);
    int is_pair = word && has(looked, looked->low, TOKEN_LOADED, what - 1);
    if (!is_pair && !(word & 1) && has(looked, looked->high, TOKEN_LOADED, what + 1))
        return NOISE;
    if (!is_pair && !add_loaded_halves(looked, beginning))
        return UNKNOWN;
    return add_term(beginning, CODE_LOADED, what >> LOADED_BITS, 0) ? KNOWN : UNKNOWN;
}

static enum outcome data(const struct looked *looked, struct beginning *beginning, uint32_t what)
{
    uint32_t variable = what >> DATA_BITS, at = what & ((1u << DATA_BITS) - 1);
    int is_anywhere = at >= DATA_ANYWHERE, is_pair = 0;
    if (is_anywhere)
        is_pair = has(looked, looked->low, TOKEN_DATA, variable << DATA_BITS | DATA_ANYWHERE);
    else
        is_pair = at >= 4 && has(looked, looked->low, TOKEN_DATA, what - 4);
    if (!is_pair && has(looked, looked->high, TOKEN_DATA, is_anywhere ? what | 1 : what + 4) && !(is_anywhere && what & 1))
        return NOISE;
    if (!is_pair && !add_loaded_halves(looked, beginning))
        return UNKNOWN;
    return add_term(beginning, BEGINS_DATA, variable, 0) ? KNOWN : UNKNOWN;
}

static enum outcome word_begins(const struct looked *looked, struct beginning *beginning, uint32_t word)
{
    uint32_t what = token_what(word);
    switch (token_kind(word)) {
    case TOKEN_PARAMETER: return parameter(looked, beginning, what);
    case TOKEN_LOADED: return of_load(looked, beginning, what);
    case TOKEN_DATA: return data(looked, beginning, what);
    case TOKEN_VARIABLE: return add_term(beginning, CODE_VARIABLE, what, 0) ? KNOWN : UNKNOWN;
    case TOKEN_RANGE: return add_term(beginning, CODE_RANGE, 0, 0) ? KNOWN : UNKNOWN;
    case TOKEN_PLACE: return add_term(beginning, BEGINS_PLACE, 0, 0) ? KNOWN : UNKNOWN;
    case TOKEN_OTHER:
    case TOKEN_STACK: return OWN;
    default: return UNKNOWN;
    }
}

/* Halves that were loaded apart begin with either: two ways in, not a sum. */
static void add_all(struct looked *looked, const struct beginning *beginning)
{
    int is_sum = 0;
    for (uint32_t i = 0; i < beginning->count; i++)
        is_sum |= beginning->term[i].kind != CODE_LOADED && beginning->term[i].kind != BEGINS_DATA;
    if (is_sum) {
        add_beginning(looked, beginning);
        return;
    }
    for (uint32_t i = 0; i < beginning->count; i++) {
        struct beginning one = {1, 0, {beginning->term[i]}};
        add_beginning(looked, &one);
    }
}

static void unknown_address(const struct looked *looked, enum code_why why)
{
    form_unknown(looked->solver->form, why, looked->step->at, NULL);
}

static void look_at_sum(struct looked *looked, list sum)
{
    const struct values *values = looked->solver->values;
    struct beginning beginning = {0};
    for (uint32_t i = 0; i < values_count(values, sum); i++) {
        uint32_t word = values_at(values, sum, i);
        if (token_kind(word) == TOKEN_EITHER) {
            beginning.either = 1;
            continue;
        }
        enum outcome outcome = word_begins(looked, &beginning, word);
        looked->own |= outcome == OWN;
        if (outcome == UNKNOWN) {
            unknown_address(looked, token_kind(word) == TOKEN_HEAP ? CODE_WHY_HEAP : CODE_WHY_ADDRESS);
            return;
        }
    }
    if (beginning.count)
        add_all(looked, &beginning);
}

/* Number 0 and what lies near it is nobody's: the kernel fails there. */
enum { NEAR_NULL = 65536 };
static int is_null(const struct solver *solver, struct address address)
{
    struct value low = solver->values->value[address.low], high = solver->values->value[address.high];
    return !high.sums && !high.mixed && high.known == KNOWN_NUMBER && high.number == 0 && !low.sums && !low.mixed &&
           low.known == KNOWN_NUMBER && low.number < NEAR_NULL;
}

static uint32_t add_seen(struct solver *solver, uint32_t number, uint32_t use, list mixed)
{
    struct accesses *all = solver->accesses;
    if (all->seens == all->seen_room) {
        void *now = grown(solver, all->seen, all->seens, &all->seen_room, sizeof *all->seen);
        if (!now)
            return UINT32_MAX;
        all->seen = now;
    }
    all->seen[all->seens] = (struct seen){use | (mixed ? CODE_FAR : 0), all->numbers, 0, mixed};
    all->seen_at[number] = all->seens + 1;
    return all->seens++;
}

/* Of a low word with more sums than are told, all words that it depends on. */
static list low_words(struct values *values, value_id low)
{
    list words = values_words(values, values->value[low].sums);
    return values_has(values, words, token(TOKEN_FORGOTTEN, 0)) ? values_all(values, low) : words;
}

void accesses_add(struct solver *solver, uint32_t number, const struct step *step, struct address address)
{
    struct values *values = solver->values;
    list sums = values->value[address.high].sums;
    struct looked looked = {solver, step, 0, 0, 0, 0, 0};
    if (is_null(solver, address))
        return;
    looked.seen = add_seen(solver, number, step->use, values->value[address.high].mixed);
    if (looked.seen == UINT32_MAX)
        return;
    if (step->space == SPACE_CONSTANT)
        sums = values_union(values, sums, values->value[address.low].sums);
    looked.high = values_words(values, sums);
    looked.low = low_words(values, address.low);
    for (uint32_t i = 0; i < values_count(values, sums); i++)
        look_at_sum(&looked, values_at(values, sums, i));
    if (!looked.found && !looked.own)
        unknown_address(&looked, CODE_WHY_ADDRESS);
}

void accesses_handle(struct solver *solver, const struct step *step, value_id handle)
{
    struct values *values = solver->values;
    list sums = values->value[handle].sums;
    for (uint32_t i = 0; i < values_count(values, sums); i++) {
        list sum = values_at(values, sums, i);
        uint32_t word = values_at(values, sum, 0);
        if (values_count(values, sum) == 1 && token_kind(word) == TOKEN_PARAMETER)
            accesses_facts_add_handle(solver, token_what(word), step->use);
        else
            form_unknown(solver->form, CODE_WHY_HANDLE, step->at, NULL);
    }
    if (!sums)
        form_unknown(solver->form, CODE_WHY_HANDLE, step->at, NULL);
}

/* Its address is the parameters' own, or one of the driver's: of what was given by value. */
void accesses_tensor(struct solver *solver, const struct step *step, struct address address)
{
    struct values *values = solver->values;
    list words = values_words(values, values->value[address.high].sums);
    for (uint32_t i = 0; i < values_count(values, words); i++) {
        enum token_kind kind = token_kind(values_at(values, words, i));
        if (kind != TOKEN_PLACE && kind != TOKEN_OTHER)
            form_unknown(solver->form, CODE_WHY_HANDLE, step->at, NULL);
    }
    if (!words)
        form_unknown(solver->form, CODE_WHY_HANDLE, step->at, NULL);
    solver->form->facts->flags |= CODE_TENSOR_MAP;
}

static void read_bank(struct solver *solver, const struct operand *operand)
{
    if (operand->kind == OPERAND_BANK && operand->variable < CODE_VARIABLES)
        solver->accesses->banks |= 1ull << operand->variable;
}

void accesses_banks(struct solver *solver, const struct step *step)
{
    for (uint32_t i = 0; i < step->sources; i++)
        read_bank(solver, &step->source[i]);
    for (uint32_t i = 0; i < step->parts && i < ADDRESS_PARTS; i++)
        read_bank(solver, &step->part[i]);
}
