/* SPDX-License-Identifier: Apache-2.0
 *
 * From accesses to facts: what each beginning is used for, and what is reached through memory. Called by the solver once,
 * at its end.
 */
#include "interpose/code/accesses.h"

#include <string.h>

static void too_many(struct solver *solver, const char *what)
{
    form_unknown(solver->form, CODE_WHY_MANY, 0, what);
}

void accesses_facts_add_handle(struct solver *solver, uint32_t offset, uint8_t use)
{
    struct code_facts *facts = solver->form->facts;
    for (uint32_t i = 0; i < facts->handles; i++) {
        if (facts->handle[i].offset == offset) {
            facts->handle[i].use |= use;
            return;
        }
    }
    if (facts->handles == CODE_HANDLES)
        too_many(solver, "handles");
    else
        facts->handle[facts->handles++] = (struct code_handle){(uint16_t)offset, use};
}

static struct code_term told(const struct solver *solver, const struct term *term)
{
    if (term->kind == CODE_RANGE || term->kind == BEGINS_PLACE)
        return (struct code_term){CODE_RANGE, 0, solver->form->facts->parameter_bytes};
    if (term->kind == CODE_LOADED)
        return (struct code_term){CODE_LOADED, 0, 0};
    if (term->kind == CODE_PARAMETER)
        return (struct code_term){CODE_PARAMETER, (uint16_t)term->low, (uint16_t)term->high};
    return (struct code_term){CODE_VARIABLE, (uint16_t)term->low, 0};
}

static int is_same(const struct code_base *a, const struct code_base *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->term[i].kind != b->term[i].kind || a->term[i].low != b->term[i].low || a->term[i].high != b->term[i].high)
            return 0;
    }
    return a->count == b->count;
}

/* Loads differ, and are told alike. */
static void tell_term(struct code_base *base, struct code_term term)
{
    for (uint32_t i = 0; i < base->count; i++) {
        const struct code_term *one = &base->term[i];
        if (one->kind == term.kind && one->low == term.low && one->high == term.high)
            return;
    }
    base->term[base->count++] = term;
}

/* The base in the facts; one that nobody reads where there are too many. */
static struct code_base *base_of(struct solver *solver, const struct beginning *beginning)
{
    struct code_facts *facts = solver->form->facts;
    struct code_base base = {.use = beginning->either ? CODE_EITHER : 0};
    for (uint32_t i = 0; i < beginning->count; i++)
        tell_term(&base, told(solver, &beginning->term[i]));
    for (uint32_t i = 0; i < facts->bases; i++) {
        if (is_same(&facts->base[i], &base)) {
            facts->base[i].use |= base.use;
            return &facts->base[i];
        }
    }
    if (facts->bases == CODE_BASES) {
        too_many(solver, "pointers");
        return &solver->nobodys;
    }
    facts->base[facts->bases] = base;
    return &facts->base[facts->bases++];
}

static struct seen *site_of(struct solver *solver, uint32_t step)
{
    uint32_t seen = step < solver->form->steps ? solver->accesses->seen_at[step] : 0;
    if (!seen)
        form_unknown(solver->form, CODE_WHY_ADDRESS, 0, "a pointer that was loaded from nowhere known");
    return seen ? &solver->accesses->seen[seen - 1] : NULL;
}

static const struct beginning *beginning_of(const struct solver *solver, const struct seen *seen, uint32_t i)
{
    return &solver->accesses->beginning[solver->accesses->number[seen->first + i]];
}

/* What is reached with `use` by a pointer that came from there, `depth` pointers after the beginning; in_sum: it may be. */
static void note(struct solver *solver, const struct beginning *beginning, uint8_t use, uint32_t depth, int in_sum)
{
    struct code_base *base = base_of(solver, beginning);
    uint32_t kind = beginning->term[0].kind;
    if (kind == BEGINS_PLACE)
        depth--; /* the first pointer is a parameter */
    if (kind == BEGINS_DATA) {
        base->use |= CODE_READ;
        depth++;
    }
    if (depth == 0)
        base->use |= use;
    else if (depth == 1)
        *(in_sum ? &base->sum_through : &base->through) |= use;
    else
        *(in_sum ? &base->sum_beyond : &base->beyond) |= use;
}

enum { WAYS_MOST = 256 };
struct ways {
    struct {
        uint32_t step, depth;
    } way[WAYS_MOST];
    uint32_t count, done;
};

static void add_way(struct solver *solver, struct ways *ways, uint32_t step, uint32_t depth)
{
    depth = depth > 3 ? 3 : depth; /* from there on there is no difference */
    for (uint32_t i = 0; i < ways->count; i++) {
        if (ways->way[i].step == step && ways->way[i].depth == depth)
            return;
    }
    if (ways->count == WAYS_MOST) {
        too_many(solver, "ways through memory");
        return;
    }
    ways->way[ways->count].step = step;
    ways->way[ways->count++].depth = depth;
}

/* A pointer that was loaded is used: whatever its own address began with leads there. */
static void follow(struct solver *solver, uint32_t step, uint8_t use, int in_sum)
{
    struct ways ways;
    ways.count = ways.done = 0;
    add_way(solver, &ways, step, 1);
    for (; ways.done < ways.count; ways.done++) {
        const struct seen *seen = site_of(solver, ways.way[ways.done].step);
        uint32_t depth = ways.way[ways.done].depth;
        for (uint32_t i = 0; seen && i < seen->count; i++) {
            const struct beginning *beginning = beginning_of(solver, seen, i);
            if (beginning->term[0].kind != CODE_LOADED || beginning->count > 1)
                note(solver, beginning, use, depth, in_sum);
            for (uint32_t t = 0; t < beginning->count; t++) {
                if (beginning->term[t].kind == CODE_LOADED)
                    add_way(solver, &ways, beginning->term[t].low, depth + 1);
            }
        }
    }
}

static void add_mixed(struct code_base *base, uint32_t offset)
{
    for (unsigned i = 0; i < base->mixes && base->mixes <= CODE_MIXED; i++) {
        if (base->mixed[i] == offset)
            return;
    }
    if (base->mixes >= CODE_MIXED) {
        base->mixes = CODE_MIXED_ANY;
        return;
    }
    unsigned at = base->mixes++;
    for (; at && base->mixed[at - 1] > offset; at--)
        base->mixed[at] = base->mixed[at - 1];
    base->mixed[at] = (uint16_t)offset;
}

/* What may hide a pointer in what is added: words of parameters are told, which the launch knows; of all others only that
 * there are some. */
static void mix(const struct values *values, struct code_base *base, list mixed)
{
    for (uint32_t i = 0; i < values_count(values, mixed); i++) {
        uint32_t word = values_at(values, mixed, i);
        enum token_kind kind = token_kind(word);
        if (kind == TOKEN_PARAMETER)
            add_mixed(base, token_what(word));
        else if (kind != TOKEN_OTHER && kind != TOKEN_STACK)
            base->mixes = CODE_MIXED_ANY;
    }
}

static void tell(struct solver *solver, const struct seen *seen)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct beginning *beginning = beginning_of(solver, seen, i);
        uint32_t kind = beginning->term[0].kind;
        for (uint32_t t = 0; t < beginning->count; t++) {
            if (beginning->term[t].kind == CODE_LOADED)
                follow(solver, beginning->term[t].low, seen->use & ~(uint8_t)CODE_FAR, beginning->count > 1);
        }
        if (kind == CODE_LOADED && beginning->count == 1)
            continue;
        if (kind == BEGINS_DATA)
            note(solver, beginning, seen->use & ~(uint8_t)CODE_FAR, 0, 0);
        else if (kind != BEGINS_PLACE) {
            struct code_base *base = base_of(solver, beginning);
            base->use |= (uint8_t)seen->use;
            mix(solver->values, base, seen->mixed);
        }
    }
}

static void tell_banks(struct solver *solver)
{
    for (uint32_t i = 0; i < CODE_VARIABLES; i++) {
        struct beginning beginning = {1, 0, {{CODE_VARIABLE, i, 0}}};
        if (solver->accesses->banks >> i & 1)
            base_of(solver, &beginning)->use |= CODE_READ;
    }
}

void accesses_facts(struct solver *solver)
{
    struct code_facts *facts = solver->form->facts;
    for (uint32_t i = 0; i < solver->accesses->seens; i++)
        tell(solver, &solver->accesses->seen[i]);
    tell_banks(solver);
    for (uint32_t i = 0; i < facts->bases && facts->verdict != CODE_UNKNOWN; i++) {
        if (facts->base[i].through || facts->base[i].beyond)
            facts->verdict = CODE_INDIRECT;
    }
}
