/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream captures: which streams belong to one, what breaks it, and with which code. Called by everything that puts work
 * on a stream or may be "unsafe" in a capture. All functions here are called with the lock held. Codes: 900 unsupported,
 * 901 invalidated, 902 merge, 904 unjoined, 905 isolation, 906 implicit, 907 captured event, 908 wrong thread.
 */
#include <stdlib.h>

#include "tests/sim/capture.h"
#include "tests/sim/sim.h"

static struct capture *captures; /* the open ones */
static uint64_t next_id = 1;

struct capture *capture_open(struct stream *s, CUstreamCaptureMode mode, struct graph *graph)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->id = next_id++;
    c->mode = mode;
    c->thread = thread_self()->id;
    c->borrowed_graph = graph != NULL;
    c->graph = graph ? graph : graph_new();
    c->origin = s;
    c->next = captures;
    captures = c;
    s->capture = c;
    node_set_clear(&s->capture_deps);
    return c;
}

/* Its streams are ordinary ones again; the graph is the caller's. */
struct graph *capture_close(struct capture *c)
{
    struct graph *graph = c->graph;
    for (struct stream *s = c->origin->ctx->streams; s; s = s->next)
        if (s->capture == c) {
            s->capture = NULL;
            node_set_clear(&s->capture_deps);
        }
    for (struct capture **link = &captures; *link; link = &(*link)->next)
        if (*link == c) {
            *link = c->next;
            break;
        }
    free(c);
    return graph;
}

/* s goes. Without its origin a capture can never be ended. */
void capture_forget(struct stream *s)
{
    struct capture *c = s->capture;
    if (!c)
        return;
    c->invalid = true;
    if (c->origin == s) {
        bool borrowed = c->borrowed_graph;
        struct graph *graph = capture_close(c);
        if (!borrowed)
            graph_free(graph);
    }
    s->capture = NULL;
}

/* ---- what breaks one ---- */

static struct capture *blocking_one(const struct context *ctx)
{
    for (const struct stream *s = ctx->streams; s; s = s->next)
        if (s->capture && s->kind != STREAM_NON_BLOCKING)
            return s->capture;
    return NULL;
}

CUresult capture_legacy_query(struct context *ctx)
{
    return captures && blocking_one(ctx) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult capture_legacy_use(struct context *ctx)
{
    CUresult result = capture_legacy_query(ctx);
    if (result != CUDA_SUCCESS)
        for (const struct stream *s = ctx->streams; s; s = s->next)
            if (s->capture && s->kind != STREAM_NON_BLOCKING)
                s->capture->invalid = true;
    return result;
}

/* A call that GLOBAL and THREAD_LOCAL captures forbid: allocation and what is like it. */
CUresult capture_unsafe(void)
{
    const struct thread *t = thread_self();
    CUresult result = CUDA_SUCCESS;
    if (t->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return result;
    for (struct capture *c = captures; c; c = c->next) {
        bool mine = c->thread == t->id && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        bool anywhere = t->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (mine || anywhere) {
            c->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult capture_forbid(struct stream *s)
{
    if (!s->capture)
        return CUDA_SUCCESS;
    s->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_observe(struct stream *s)
{
    CUresult result = s->kind == STREAM_LEGACY ? capture_legacy_use(s->ctx) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? capture_forbid(s) : result;
}

static struct capture *capture_of(const struct event *e)
{
    struct capture *c = captures;
    while (c && c->id != e->capture_id)
        c = c->next;
    return c;
}

CUresult capture_observe_event(const struct event *e)
{
    struct capture *c = capture_of(e);
    if (!c) /* it has ended */
        return CUDA_ERROR_INVALID_VALUE;
    c->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult capture_any(struct context *ctx)
{
    CUresult result = CUDA_SUCCESS;
    for (struct capture *c = captures; c; c = c->next)
        if (c->origin->ctx == ctx) {
            c->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

/* ---- what goes into one ---- */

CUresult capture_add(struct stream *s, struct work *w)
{
    if (s->capture->invalid) {
        work_clear(w);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (w->kind == WORK_NONE) /* order only, and the order is in the stream's dependencies */
        return CUDA_SUCCESS;
    const struct allocation *freed = w->kind == WORK_FREE ? memory_find(w->free.address) : NULL;
    if (w->kind == WORK_FREE && !(freed && freed->of_graph)) {
        work_clear(w);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct node *node = graph_add(s->capture->graph, w, &s->capture_deps);
    node_set_clear(&s->capture_deps);
    node_set_add(&s->capture_deps, node);
    return CUDA_SUCCESS;
}

CUresult capture_record(struct stream *s, struct event *e)
{
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    op_release(e->op);
    e->op = NULL;
    e->generation++;
    e->capture_id = s->capture->id;
    node_set_copy(&e->capture_deps, &s->capture_deps);
    return CUDA_SUCCESS;
}

/* s waits for an event and at least one of the two is in a capture. */
CUresult capture_wait(struct stream *s, struct event *e)
{
    struct capture *of_event = capture_of(e);
    if (!e->capture_id) {
        if (!e->op)
            return s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
        s->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (!of_event) /* its capture has ended */
        return CUDA_ERROR_INVALID_VALUE;
    if (s->kind == STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (s->capture && s->capture != of_event) {
        s->capture->invalid = of_event->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (of_event->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!s->capture) {
        s->capture = of_event;
        node_set_clear(&s->capture_deps);
    }
    for (size_t i = 0; i < e->capture_deps.count; i++)
        node_set_add(&s->capture_deps, e->capture_deps.nodes[i]);
    return CUDA_SUCCESS;
}

/* ---- at its end: does every stream's last node lead to the origin's? ---- */

static void mark_ancestors(const struct node_set *set, bool *reached)
{
    for (size_t i = 0; i < set->count; i++)
        if (!reached[set->nodes[i]->index]) {
            reached[set->nodes[i]->index] = true;
            mark_ancestors(&set->nodes[i]->deps, reached);
        }
}

bool capture_joined(const struct capture *c)
{
    bool joined = true;
    bool *reached = calloc(c->graph->nodes.count + 1, sizeof *reached);
    if (!reached)
        abort();
    mark_ancestors(&c->origin->capture_deps, reached);
    for (const struct stream *s = c->origin->ctx->streams; s; s = s->next)
        for (size_t i = 0; s->capture == c && i < s->capture_deps.count; i++)
            joined = joined && reached[s->capture_deps.nodes[i]->index];
    free(reached);
    return joined;
}
