/* SPDX-License-Identifier: Apache-2.0
 *
 * Goes through a kernel's blocks until nothing changes. Where ways meet on which a register has different numbers, the
 * register has a phi of that block. Called by extent_make. Must never keep what was known of an earlier time: of a block
 * that comes again, nothing that was made of its own phis may hold where it begins. Nothing does: on the first way to the
 * block there is none of them, and only what is the same on all ways is kept.
 */
#include "interpose/code/extents/extent_flow.h"

#include <string.h>

#include "interpose/code/extents/extent_meaning.h"

enum { PASSES_MOST = 64, CELLS_MOST = 1 << 19 };

/* ---- edges ---- */

static void add_edge(struct extent_flow *flow, const struct solver *solver, uint32_t from, uint32_t step, uint32_t guard)
{
    if (step < flow->form->steps && solver->block_at[step] != NO_BLOCK)
        flow->edge[flow->edges++] = (struct flow_edge){from, solver->block_at[step], guard, 0};
}

static void add_edges(struct extent_flow *flow, const struct solver *solver, uint32_t block)
{
    const struct form *form = flow->form;
    const struct step *last = &form->step[solver->block[block].end - 1];
    uint32_t guard = last->guard && !last->maybe ? (uint32_t)last->guard << 1 | (last->guard_negated != 0) : 0;
    int goes_on = 1;
    if (last->kind == STEP_BRANCH) {
        add_edge(flow, solver, block, last->target, guard);
        goes_on = last->guard || last->maybe;
    } else if (last->kind == STEP_EXIT) {
        goes_on = last->guard || last->maybe;
    } else {
        guard = 0;
    }
    if (goes_on)
        add_edge(flow, solver, block, solver->block[block].end, guard ? guard ^ 1 : 0);
}

/* 0: there are calls, jumps by tables, or too many blocks. */
static int make_edges(struct extent_flow *flow, const struct solver *solver)
{
    for (uint32_t i = 0; i < flow->form->steps; i++) {
        uint8_t kind = flow->form->step[i].kind;
        if (kind == STEP_CALL || kind == STEP_RETURN || kind == STEP_SWITCH)
            return 0;
    }
    flow->edge = arena_get(flow->arena, 2 * (flow->blocks + 1) * sizeof *flow->edge);
    for (uint32_t i = 0; flow->edge && i < flow->blocks; i++)
        add_edges(flow, solver, i);
    return flow->edge != NULL;
}

/* ---- where ways meet ---- */

static int is_phi(const struct extent_flow *flow, uint32_t block, uint32_t slot)
{
    return flow->is_phi[block][slot / 64] >> slot % 64 & 1;
}

/* A predicate with several values is not known. */
static node_id phi_of(struct extent_flow *flow, uint32_t block, uint32_t slot)
{
    if (slot >= flow->form->registers || !flow->bits[slot])
        return 0;
    return extent_nodes_of(&flow->nodes, (struct node){.kind = NODE_PHI, .bits = flow->bits[slot], .a = block, .b = slot});
}

/* Ways that have not been gone do not count yet. */
static int is_open(const struct extent_flow *flow, const struct flow_edge *edge, uint32_t block)
{
    return edge->to == block && flow->out[edge->from];
}

static void note_phis(const struct extent_flow *flow, uint32_t block, const node_id *first, const node_id *other)
{
    for (uint32_t slot = 0; slot < flow->slots; slot++) {
        if (first[slot] != other[slot])
            flow->is_phi[block][slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

/* Fills in `now` and `holds` where the block begins. 0: no way leads there. */
static int enter(struct extent_flow *flow, uint32_t block)
{
    const node_id *first = NULL;
    uint64_t holds = UINT64_MAX;
    memset(flow->now, 0, flow->slots * sizeof *flow->now);
    if (block == 0) { /* the kernel begins: no register has anything */
        first = flow->now;
        holds = 0;
    }
    for (uint32_t i = 0; i < flow->edges; i++) {
        if (!is_open(flow, &flow->edge[i], block))
            continue;
        holds &= flow->edge[i].holds;
        if (first)
            note_phis(flow, block, first, flow->out[flow->edge[i].from]);
        else
            first = flow->out[flow->edge[i].from];
    }
    if (!first)
        return 0;
    for (uint32_t slot = 0; slot < flow->slots; slot++)
        flow->now[slot] = is_phi(flow, block, slot) ? phi_of(flow, block, slot) : first[slot];
    flow->holds = holds;
    return 1;
}

/* ---- passes ---- */

static void leave(struct extent_flow *flow, uint32_t block)
{
    flow->out_holds[block] = flow->holds;
    for (uint32_t i = 0; i < flow->edges; i++) {
        struct flow_edge *edge = &flow->edge[i];
        if (edge->from != block)
            continue;
        edge->holds = flow->holds;
        if (edge->guard)
            edge->holds |= extent_meaning_holds(flow, (uint16_t)(edge->guard >> 1), edge->guard & 1);
    }
}

/* 1: something has changed; -1: there is no memory. */
static int go_through(struct extent_flow *flow, uint32_t block)
{
    if (!enter(flow, block))
        return 0;
    extent_meaning_block(flow, &flow->block[block]);
    uint64_t held = flow->out_holds[block];
    node_id *out = flow->out[block];
    size_t bytes = flow->slots * sizeof *out;
    leave(flow, block);
    if (out && memcmp(out, flow->now, bytes) == 0 && held == flow->holds)
        return 0;
    if (!out && !(out = flow->out[block] = arena_get(flow->arena, bytes)))
        return -1;
    memcpy(out, flow->now, bytes);
    return 1;
}

/* 0: it does not come to an end. A last pass without a change has seen all ways as they are. */
static int settle(struct extent_flow *flow)
{
    for (uint32_t pass = 0; pass < PASSES_MOST; pass++) {
        int changed = 0;
        for (uint32_t i = 0; i < flow->blocks; i++) {
            int now = go_through(flow, i);
            if (now < 0)
                return 0;
            changed |= now;
        }
        if (!changed)
            return flow->nodes.count < NODES_MOST;
    }
    return 0;
}

static void find_bits(struct extent_flow *flow)
{
    for (uint32_t i = 0; i < flow->form->meanings; i++) {
        const struct meaning *meaning = &flow->form->meaning[i];
        if (extent_meaning_sets_register(meaning) && meaning->result < flow->form->registers)
            flow->bits[meaning->result] = (uint8_t)(meaning->words * 32);
    }
}

static int get_room(struct extent_flow *flow)
{
    uint32_t words = flow->slots / 64 + 1;
    flow->bits = arena_get(flow->arena, flow->form->registers + 1);
    flow->out = arena_get(flow->arena, flow->blocks * sizeof *flow->out);
    flow->is_phi = arena_get(flow->arena, flow->blocks * sizeof *flow->is_phi);
    flow->out_holds = arena_get(flow->arena, flow->blocks * sizeof *flow->out_holds);
    flow->access = arena_get(flow->arena, flow->form->steps * sizeof *flow->access);
    flow->now = arena_get(flow->arena, flow->slots * sizeof *flow->now);
    uint64_t *bits = arena_get(flow->arena, (size_t)flow->blocks * words * sizeof *bits);
    for (uint32_t i = 0; bits && flow->is_phi && i < flow->blocks; i++)
        flow->is_phi[i] = bits + (size_t)i * words;
    return flow->bits && flow->out && flow->is_phi && flow->out_holds && flow->access && flow->now && bits &&
           extent_nodes_begin(&flow->nodes, flow->arena);
}

int extent_flow(struct extent_flow *flow, const struct solver *solver)
{
    *flow = (struct extent_flow){.form = solver->form, .arena = solver->arena, .block = solver->block};
    flow->blocks = solver->blocks;
    flow->slots = flow->form->registers + flow->form->predicates + 1;
    if (!flow->form->meanings || (uint64_t)flow->slots * flow->blocks > CELLS_MOST)
        return 0;
    if (!make_edges(flow, solver) || !get_room(flow))
        return 0;
    find_bits(flow);
    return settle(flow);
}
