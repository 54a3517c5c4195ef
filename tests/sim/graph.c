/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes of work and their order; launching one turns every node into an operation. Called by captures and by the
 * cuGraph functions. Locked, all of it.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

static uint64_t next_node = 1;

void node_set_add(struct node_set *set, struct node *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->nodes[i] == node)
            return;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 4;
        set->nodes = realloc(set->nodes, set->capacity * sizeof(struct node *));
        if (!set->nodes)
            abort();
    }
    set->nodes[set->count++] = node;
}

void node_set_clear(struct node_set *set)
{
    free(set->nodes);
    *set = (struct node_set){NULL, 0, 0};
}

void node_set_copy(struct node_set *to, const struct node_set *from)
{
    node_set_clear(to);
    for (size_t i = 0; i < from->count; i++)
        node_set_add(to, from->nodes[i]);
}

struct graph *graph_new(void)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        abort();
    handle_add(graph, HANDLE_GRAPH);
    return graph;
}

void graph_free(struct graph *graph)
{
    handle_remove(graph);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *node = graph->nodes.nodes[i];
        handle_remove(node);
        work_clear(&node->work);
        node_set_clear(&node->deps);
        free(node->parameters);
        free(node);
    }
    node_set_clear(&graph->nodes);
    free(graph);
}

/* Takes the work over. A node comes after all nodes that it depends on, so the order of the array is one to run in. */
struct node *graph_add(struct graph *graph, struct work *w, const struct node_set *deps)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node)
        abort();
    node->work = *w;
    *w = (struct work){.kind = WORK_NONE};
    node_set_copy(&node->deps, deps);
    node->graph = graph;
    node->index = graph->nodes.count;
    node->id = next_node++;
    node_set_add(&graph->nodes, node);
    handle_add(node, HANDLE_NODE);
    return node;
}

struct graph *graph_clone(const struct graph *graph)
{
    struct graph *copy = graph_new();
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct node *from = graph->nodes.nodes[i];
        struct node_set deps = {NULL, 0, 0};
        struct work w = work_clone(&from->work);
        for (size_t d = 0; d < from->deps.count; d++)
            node_set_add(&deps, copy->nodes.nodes[from->deps.nodes[d]->index]);
        graph_add(copy, &w, &deps)->origin = from->id;
        node_set_clear(&deps);
    }
    return copy;
}

struct node *graph_copy_of(const struct graph *graph, const struct node *node)
{
    struct node *found = NULL;
    for (size_t i = 0; i < graph->nodes.count && !found; i++) {
        struct node *mine = graph->nodes.nodes[i];
        if (mine->origin == node->id)
            found = mine;
        else if (mine->work.kind == WORK_CHILD)
            found = graph_copy_of(mine->work.child, node);
    }
    return found;
}

/* The operations of one launch; none is submitted before all are there. */
struct launch {
    struct op **ops;
    size_t count, capacity;
    struct claim *claim; /* for each kernel, whatever was said when it was captured */
};

static struct op *launch_op(struct launch *l, struct work *w)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 16;
        l->ops = realloc(l->ops, l->capacity * sizeof *l->ops);
        if (!l->ops)
            abort();
    }
    return l->ops[l->count++] = op_new(w);
}

/* An event is what it is at the launch. */
static void about_event(const struct work *w, struct op *op)
{
    if ((w->kind != WORK_RECORD && w->kind != WORK_AWAIT) || !handle_is(w->event, HANDLE_EVENT))
        return;
    if (w->kind == WORK_AWAIT)
        op_after(op, w->event->op);
    else
        event_record_behind(w->event, op_hold(op));
}

/* The nodes of a graph between two operations; a child graph becomes its nodes between two markers. */
static void expand(struct launch *l, const struct graph *graph, struct op *before, struct op *after)
{
    const struct node_set *nodes = &graph->nodes;
    struct op **last = calloc(nodes->count + 1, sizeof *last);
    if (!last)
        abort();
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = nodes->nodes[i];
        bool child = node->work.kind == WORK_CHILD;
        struct work nothing = {.kind = WORK_NONE}, w = child ? nothing : work_clone(&node->work);
        if (w.kind == WORK_KERNEL) {
            claim_release(w.kernel.claim);
            w.kernel.claim = claim_hold(l->claim);
        }
        struct op *first = last[i] = launch_op(l, &w);
        op_after(first, before);
        for (size_t d = 0; d < node->deps.count; d++)
            op_after(first, last[node->deps.nodes[d]->index]);
        about_event(&node->work, first);
        if (child) {
            last[i] = launch_op(l, &nothing);
            op_after(last[i], first);
            expand(l, node->work.child, first, last[i]);
        }
        op_after(after, last[i]);
    }
    free(last);
}

/* A copy to pageable memory is one that the host waits for, as it does outside of a graph. */
static bool launch_waits(const struct graph *graph)
{
    bool waits = false;
    for (size_t i = 0; i < graph->nodes.count && !waits; i++) {
        const struct work *w = &graph->nodes.nodes[i]->work;
        if (w->kind == WORK_CHILD)
            waits = launch_waits(w->child);
        else if (w->kind == WORK_COPY)
            waits = w->copy.to_pageable;
    }
    return waits;
}

/* A marker before, the nodes, a marker after: the stream goes on when all nodes are done. */
CUresult graph_exec_launch(struct graph_exec *exec, struct stream *s)
{
    struct work nothing = {.kind = WORK_NONE};
    struct launch launch = {NULL, 0, 0, claim_take()};
    CUresult result = capture_observe(s); /* no capture takes one, and none survives it (measured) */
    if (result == CUDA_SUCCESS)
        result = pool_back_graph(exec->graph);
    if (result != CUDA_SUCCESS) {
        claim_release(launch.claim);
        return result;
    }
    struct op *before = op_new(&nothing), *after = op_new(&nothing);
    stream_order_after(s, before);
    op_after(before, exec->last);
    op_after(after, before);
    expand(&launch, exec->graph, before, after);
    queue_behind(s, before);
    stream_append(s, after);
    op_release(exec->last);
    exec->last = op_hold(after);
    for (size_t i = 0; i < launch.count; i++)
        op_submit(launch.ops[i]);
    op_submit(after);
    op_submit(before); /* last: what it lets go must all be there */
    free(launch.ops);
    claim_release(launch.claim);
    if (launch_waits(exec->graph))
        op_wait(exec->last);
    return CUDA_SUCCESS;
}
