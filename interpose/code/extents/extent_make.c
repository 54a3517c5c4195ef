/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of a kernel's bases have an extent. Called by the solver once, at its end. A base has one only if each access that
 * may begin with it does, as far as both the solver and the meanings of instructions tell, at the base's pointer plus an
 * interval.
 */
#include "interpose/code/extents/extent_make.h"

#include <string.h>

#include "interpose/code/accesses.h"
#include "interpose/code/extents/extent_flow.h"
#include "interpose/code/extents/extent_steps.h"

struct making {
    struct solver *solver;
    struct extent_flow flow;
    struct extent_steps steps;
    uint8_t fails[CODE_BASES], is_used[CODE_BASES];
};

/* The base that is this one pointer; CODE_BASES: there is none. */
static unsigned base_of(const struct code_facts *facts, const struct beginning *beginning)
{
    unsigned i = 0;
    if (beginning->count != 1 || beginning->either || beginning->term[0].kind != CODE_PARAMETER)
        return CODE_BASES;
    for (; i < facts->bases && i < CODE_BASES; i++) {
        const struct code_base *base = &facts->base[i];
        if (base->count == 1 && base->term[0].kind == CODE_PARAMETER && base->term[0].low == beginning->term[0].low &&
            base->term[0].high == beginning->term[0].high)
            return i;
    }
    return CODE_BASES;
}

/* The base has a beginning in common with others, or is one of several terms. */
static void fail_terms(struct making *making, const struct beginning *beginning)
{
    const struct code_facts *facts = making->solver->form->facts;
    for (unsigned i = 0; i < facts->bases && i < CODE_BASES; i++) {
        for (uint32_t t = 0; t < beginning->count; t++) {
            if (facts->base[i].count == 1 && facts->base[i].term[0].kind == CODE_PARAMETER &&
                beginning->term[t].kind == CODE_PARAMETER && facts->base[i].term[0].low == beginning->term[t].low)
                making->fails[i] = 1;
        }
    }
}

enum { TERMS = 16 };
struct sum {
    node_id term[TERMS];
    unsigned count;
};

/* The terms of a sum of 64 bits. 0: there are too many. */
static int take_apart(const struct making *making, node_id id, struct sum *sum)
{
    struct sum left = {{id}, 1};
    while (left.count) {
        const struct node *node = extent_nodes_at(&making->flow.nodes, id = left.term[--left.count]);
        if (node->kind != NODE_ADD || node->bits != 64) {
            if (sum->count == TERMS)
                return 0;
            sum->term[sum->count++] = id;
        } else if (left.count + 2 > TERMS)
            return 0;
        else {
            left.term[left.count++] = node->a;
            left.term[left.count++] = node->b;
        }
    }
    return 1;
}

/* Takes the pointer out of the sum. 0: it is not among the terms. */
static int take_pointer(const struct making *making, const struct code_base *base, struct sum *sum)
{
    for (unsigned i = 0; i < sum->count; i++) {
        const struct node *node = extent_nodes_at(&making->flow.nodes, sum->term[i]);
        if (node->kind != NODE_PARAMETER || node->bits != 64 || node->a != base->term[0].low)
            continue;
        sum->term[i] = sum->term[--sum->count];
        return base->term[0].high == base->term[0].low + 4;
    }
    return 0;
}

/* The steps of an access that begins with the base. 0: it is not known how far that goes. */
static int add_access(struct making *making, unsigned base, const struct flow_access *access)
{
    struct extent_steps *steps = &making->steps;
    struct sum sum = {.count = 0};
    if (!access->address || !take_apart(making, access->address, &sum) ||
        !take_pointer(making, &making->solver->form->facts->base[base], &sum))
        return 0;
    uint16_t offset = EXTENT_NONE;
    if (!sum.count) /* the pointer itself */
        offset = extent_steps_add(steps, (struct code_extent_step){.kind = CODE_EXTENT_NUMBER, .bits = 64});
    for (unsigned i = 0; i < sum.count; i++) {
        uint16_t term = extent_steps_of(steps, sum.term[i], access->holds);
        if (term == EXTENT_NONE)
            return 0;
        offset = i ? extent_steps_add(
                         steps, (struct code_extent_step){.kind = CODE_EXTENT_ADD, .bits = 64, .a = offset, .b = term})
                   : term;
    }
    return extent_steps_add(steps, (struct code_extent_step){.kind = CODE_EXTENT_ACCESS,
                                                             .bits = 64,
                                                             .a = offset,
                                                             .b = (uint16_t)base,
                                                             .value = access->bytes}) != EXTENT_NONE;
}

static void look_at(struct making *making, uint32_t step)
{
    const struct accesses *all = making->solver->accesses;
    const struct seen *seen = &all->seen[all->seen_at[step] - 1];
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct beginning *beginning = &all->beginning[all->number[seen->first + i]];
        unsigned base = base_of(making->solver->form->facts, beginning);
        uint16_t before = making->steps.count;
        if (base == CODE_BASES)
            fail_terms(making, beginning);
        else if (!making->fails[base] && !add_access(making, base, &making->flow.access[step])) {
            making->fails[base] = 1;
            making->steps.count = before;
        } else
            making->is_used[base] = 1;
    }
}

/* Accesses of bases that have none after all stay: nobody asks for them. */
static void tell(struct making *making)
{
    struct code_facts *facts = making->solver->form->facts;
    unsigned told = 0;
    for (unsigned i = 0; i < facts->bases && i < CODE_BASES; i++) {
        facts->base[i].has_extent = making->is_used[i] && !making->fails[i];
        told += facts->base[i].has_extent;
    }
    if (!told)
        return;
    memcpy(facts->extent_step, making->steps.step, making->steps.count * sizeof *making->steps.step);
    facts->extent_steps = making->steps.count;
}

/* Whether any base can have one. */
static int may_tell(const struct code_facts *facts)
{
    for (unsigned i = 0; i < facts->bases && i < CODE_BASES; i++) {
        if (facts->base[i].count == 1 && facts->base[i].term[0].kind == CODE_PARAMETER)
            return 1;
    }
    return 0;
}

void extent_make(struct solver *solver)
{
    struct making *making = may_tell(solver->form->facts) ? arena_get(solver->arena, sizeof *making) : NULL;
    if (!making || !extent_flow(&making->flow, solver))
        return;
    making->solver = solver;
    if (!extent_steps_begin(&making->steps, &making->flow))
        return;
    for (uint32_t i = 0; i < solver->form->steps; i++) {
        if (solver->accesses->seen_at[i])
            look_at(making, i);
    }
    tell(making);
}
