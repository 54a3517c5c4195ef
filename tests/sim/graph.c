/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes of work and their order; launching one turns every node into an operation. Called by captures and by the
 * cuGraph functions. Locked, all of it.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

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
    node->index = graph->nodes.count;
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
        graph_add(copy, &w, &deps);
        node_set_clear(&deps);
    }
    return copy;
}

/* A marker before, the nodes, a marker after: the stream goes on when all nodes are done. */
CUresult graph_exec_launch(struct graph_exec *exec, struct stream *s)
{
    struct work nothing = {.kind = WORK_NONE};
    const struct node_set *nodes = &exec->graph->nodes;
    CUresult result = s->kind == STREAM_LEGACY ? capture_legacy_use(s->ctx) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && s->capture)
        return capture_add_graph(s, exec->graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct op *before = op_new(&nothing), *after = op_new(&nothing);
    struct op **ops = calloc(nodes->count + 1, sizeof *ops);
    if (!ops)
        abort();
    stream_order_after(s, before);
    op_after(before, exec->last);
    op_after(after, before);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = nodes->nodes[i];
        struct work w = work_clone(&node->work);
        ops[i] = op_new(&w);
        op_after(ops[i], before);
        for (size_t d = 0; d < node->deps.count; d++)
            op_after(ops[i], ops[node->deps.nodes[d]->index]);
        op_after(after, ops[i]);
    }
    stream_append(s, after);
    op_release(exec->last);
    exec->last = op_hold(after);
    for (size_t i = 0; i < nodes->count; i++)
        op_submit(ops[i]);
    op_submit(after);
    op_submit(before); /* last: what it lets go must all be there */
    free(ops);
    return CUDA_SUCCESS;
}
