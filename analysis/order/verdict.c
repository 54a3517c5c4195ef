/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's one pass: for each call, what it comes after, what it touches, and what the host knows when it has returned.
 * Called by the report builder and by tests. Must come to an end on any input and take memory by what is alive only.
 */
#include "analysis/order/verdict.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/base/id_map.h"
#include "analysis/model/model_orders.h"
#include "analysis/order/memory/access_cache.h"
#include "analysis/order/memory/conflicts.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/memory/signatures.h"
#include "analysis/order/memory/touches.h"
#include "analysis/order/strands/implicit_edges.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/open_edges.h"
#include "analysis/order/strands/order_loss.h"
#include "analysis/order/strands/strand_events.h"
#include "analysis/order/strands/strands.h"
#include "analysis/order/sweep.h"
#include "analysis/order/wait_covers.h"

/* Of cuEventCreate. */
enum { EVENT_DISABLE_TIMING = 2 };

static bool begin(struct verdicts *v, struct model *model)
{
    v->ends = heap_bytes(ENDS * sizeof *v->ends); /* no entry is read before it was written */
    if (v->ends == NULL || !TABLE_ADD(&v->strands) || !TABLE_ADD(&v->memories) || !access_cache_begin(v) ||
        !order_loss_begin(v, model))
        return false;
    v->strands.items[HOST_STRAND] = (struct strand){.ended = UINT64_MAX, .group = NO_GROUP};
    v->memories.items[0] =
        (struct memory){.end = UINT64_MAX, .classes = TOUCHES_DEVICE | TOUCHES_HOST, .stint = ++v->stints};
    return true;
}

static bool has_calls(const struct trace *trace, uint32_t thread)
{
    for (size_t i = 0; i < trace->chunks.count; i++)
        if (trace->chunks.items[i].thread == thread)
            return true;
    return false;
}

/* Ticks: until then threads of which no call is left may have made some; 0: there are none. */
static uint64_t lost_until(const struct trace *trace)
{
    uint64_t until = 0;
    for (size_t i = 0; trace->header.recycled != 0 && i < trace->defs.threads.count; i++) {
        const struct thread_def *thread = &trace->defs.threads.items[i];
        if (!thread->drivers && !has_calls(trace, thread->id))
            until = larger(until, thread->ended);
    }
    return until;
}

struct verdicts *verdicts_begin(struct model *model, struct edge_sink *sink)
{
    const struct trace *trace = model->trace;
    struct verdicts *v = heap_zeroed(1, sizeof *v);
    if (v == NULL)
        return NULL;
    v->model = model;
    v->trace = trace;
    v->sink = sink;
    v->moved = (trace->flags & PTDS_CALL_REMAPPED) && !implicit_order_promises(implicit_order_policy(&trace->defs));
    v->sweep_at = v->sweep_least = SWEEP_LEAST;
    v->few = FEW;
    /* Where recycled records were is not known. What threads gave up is placed by merge_in_gap. */
    v->lost_at = trace->header.recycled != 0;
    v->lost_until = lost_until(trace);
    v->times = trace->ops >> PTDS_OP_EVENT_ELAPSED & 1 ? TOUCHES_TIME : 0;
    v->unsure = trace->header.recycled != 0 || trace->lost != 0;
    v->all_lost = trace->lost_chunks != 0 || trace->damaged != 0 || trace->header.refused != 0 || trace->out_of_memory;
    v->unsure |= v->all_lost;
    if (!begin(v, model)) {
        verdicts_end(v, NULL);
        return NULL;
    }
    wait_covers_follow(v);
    return v;
}

void verdicts_sweep_always(struct verdicts *v)
{
    v->sweep_at = v->sweep_least = 0;
}

void verdicts_tell_conflicts(struct verdicts *v, struct conflict_sink *sink)
{
    v->conflicts = sink;
    v->tells_races = implicit_order_is_strict(&v->trace->defs);
}

void verdicts_look_at(struct verdicts *v, unsigned few)
{
    v->few = few;
}

void verdicts_begin_anew_after(struct verdicts *v, unsigned calls)
{
    v->shift = ENDS - 1 - calls % ENDS;
}

struct edge_end verdicts_end_of(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    return (struct edge_end){.ticks = call->enter,
                             .thread = view->call->thread,
                             .stream = view->submits ? call->stream != 0 ? call->stream : call->target : 0,
                             .stack = call->stack,
                             .object = call->op == PTDS_OP_LAUNCH ? call->object : 0,
                             .api = call->api,
                             .op = call->op,
                             .twin = (call->flags & PTDS_CALL_TWIN) != 0,
                             .target = view->submits ? call->target != 0 ? call->target : call->stream : 0};
}

/* The strand that the call is on or about; opened if the call submits something to it. */
static uint32_t strand_of(struct verdicts *v, const struct call_view *view)
{
    const struct call *call = view->call;
    uint32_t strand = strands_of_call(v, call);
    if (strand != NO_STRAND || !view->submits || (call->r.stream == 0 && call->r.target == 0))
        return strand;
    uint32_t closed = strands_to_close(v, call->r.enter);
    if (closed != NO_STRAND) {
        access_cache_write_all_back(v);
        strands_close(v, closed);
    }
    return strands_open(v, call, closed);
}

/* Sets the call's end, and returns its strand. Calls of a class (view->alike) share what is worked out here. */
static ASIDE uint32_t begin_new(struct verdicts *v, const struct call_view *view)
{
    uint32_t strand = strand_of(v, view);
    *v->end = verdicts_end_of(view);
    bool never = view->call->r.stream == 0 && view->call->r.target == 0;
    if (view->alike != 0 && (strand != NO_STRAND || never))
        v->alike[view->alike % ALIKE] = (struct alike){view->alike, strand, *v->end};
    return strand;
}

static inline uint32_t begin_call(struct verdicts *v, const struct call_view *view)
{
    const struct alike *alike = &v->alike[view->alike % ALIKE];
    v->end = &v->ends[v->now % ENDS];
    if (view->alike == 0 || alike->number != view->alike)
        return begin_new(v, view);
    *v->end = alike->end;
    v->end->ticks = view->call->r.enter;
    v->end->stack = view->call->r.stack;
    v->end->object = view->call->r.op == PTDS_OP_LAUNCH ? view->call->r.object : 0;
    return alike->strand;
}

static RARE void wait_for_event(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t strand)
{
    const struct strand_event *event = strand_events_find(v, call->object, call->generation);
    if (event != NULL)
        strand_events_wait(v, event, strand);
    else if (strand_events_are_unseen(v, call->object, call->generation))
        v->unseen_order = v->now;
}

/* Whether implicit order puts nothing new before the strand's operation: it is the strand of the last legacy operation,
 * and no blocking strand did anything since. */
static inline bool goes_on(const struct verdicts *v, uint32_t at)
{
    const struct strand *strand = strands_at(v, at);
    const struct context *context = &v->contexts.items[strand->context];
    return context->queue == at && context->legacy.newest == at && context->blocking_at <= strand->last;
}

static inline void put_on_strand(struct verdicts *v, uint32_t strand)
{
    if (!goes_on(v, strand))
        implicit_edges_join(v, strand);
    strands_at(v, strand)->last = v->now;
}

/* Whether the operation may tell the program, by means that no call shows, that what came before it is done: a host
 * function, a value that the host looks at, or a graph with one of them. */
static bool may_tell(const struct ptds_rec_CALL *call)
{
    uint32_t why = (call->flags & PTDS_CALL_WHY_MASK) >> PTDS_CALL_WHY_SHIFT;
    switch (call->op) {
    case PTDS_OP_HOST_FUNCTION:
    case PTDS_OP_WRITE_VALUE:
    case PTDS_OP_OPAQUE: return true;
    case PTDS_OP_GRAPH_LAUNCH:
        return why == PTDS_OPAQUE_HOST_FUNCTION || why == PTDS_OPAQUE_WAITS_FOR_VALUE || why == PTDS_OPAQUE_SEMAPHORE ||
               why == PTDS_OPAQUE_GRAPH;
    default: return false;
    }
}

static RARE void tell(struct verdicts *v, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    bool all = vclock_join(&v->told, &strand->expl) && vclock_raise(&v->told, at, strand->last) &&
               vclock_raise(&v->told_by_any_order, at, strand->last);
    for (uint32_t about = 1; about < v->strands.count; about++)
        all &= about == at || vclock_raise(&v->told_by_any_order, about, knowledge_own(v, strand, about));
    v->limited |= !all;
}

static RARE void record_event(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t strand)
{
    uint32_t ignored;
    if (v->times != 0 && !id_map_get(&v->untimed, call->object, &ignored))
        conflicts_timed(v, strand);
    strand_events_record(v, call, strand);
}

static void submit(struct verdicts *v, const struct call_view *view, uint32_t strand)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (call->op == PTDS_OP_EVENT_WAIT)
        wait_for_event(v, call, strand);
    put_on_strand(v, strand);
    if (may_tell(call))
        tell(v, strand);
    if (call->op == PTDS_OP_LAUNCH)
        touches_of_launch(v, view->call, strand);
    else if (view->work)
        touches_of_call(v, view->call, strand);
    else if (call->op == PTDS_OP_EVENT_RECORD)
        record_event(v, call, strand);
}

/* Calls that change no order of operations: allocations, frees, events. */
static RARE void take_objects(struct verdicts *v, const struct call_view *view, const struct cover *cover)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    switch (call->op) {
    case PTDS_OP_ALLOC: live_memories_add(v, view->call); break;
    case PTDS_OP_FREE:
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_ARRAY_DESTROY:
    case PTDS_OP_UNREGISTER: touches_of_free(v, view, cover); break;
    case PTDS_OP_UNMAP: touches_of_free(v, view, NULL); break;
    case PTDS_OP_CTX_DESTROY:
        for (uint32_t i = 1; i < v->memories.count; i++)
            if (v->memories.items[i].stint != 0 && v->memories.items[i].context == call->context)
                live_memories_remove(v, &v->memories.items[i]);
        break;
    case PTDS_OP_EVENT_CREATE:
        if (v->times != 0 && call_word(view->call, 0) & EVENT_DISABLE_TIMING)
            id_map_put(&v->untimed, call->object, 0);
        break;
    case PTDS_OP_EVENT_DESTROY:
        id_map_remove(&v->untimed, call->object);
        strand_events_forget(v, call->object);
        break;
    case PTDS_OP_CTX_EVENT_RECORD:
    case PTDS_OP_CTX_EVENT_WAIT: v->unseen_order = v->now; break;
    default: break;
    }
}

static bool concerns(const struct call_view *view)
{
    return view->succeeded && (view->submits || view->scope != WAIT_NONE || view->call->r.op >= PTDS_OP_CTX_EVENT_RECORD);
}

static ASIDE void take_call(struct verdicts *v, const struct call_view *view, uint32_t strand)
{
    struct cover cover;
    bool early = view->own_only && wait_covers_of(v, view, strand, &cover), waits = early;
    if (view->submits && strand != NO_STRAND)
        submit(v, view, strand);
    if (!view->own_only && view->scope != WAIT_NONE)
        waits = wait_covers_of(v, view, strand, &cover);
    if (view->call->r.op >= PTDS_OP_CTX_EVENT_RECORD)
        take_objects(v, view, waits ? &cover : NULL);
    if (waits)
        wait_covers_start(v, &cover);
}

static RARE void begin_ends_anew(struct verdicts *v)
{
    access_cache_write_all_back(v);
    strands_keep_ends(v);
    v->ends_from += ENDS;
}

static RARE const struct verdicts_found *found(struct verdicts *v)
{
    v->found = (struct verdicts_found){.unordered = v->raced || v->may_race ? &v->race : NULL,
                                       .given_up = v->gives_up ? &v->given_up : NULL,
                                       .overtaken = v->overtakes ? &v->overtaken : NULL};
    return &v->found;
}

const struct verdicts_found *verdicts_take(struct verdicts *v, const struct call_view *view, bool gap)
{
    v->now = view->number + v->shift;
    if (v->now - v->ends_from >= ENDS)
        begin_ends_anew(v);
    if (gap || view->call->r.enter < v->lost_until)
        v->lost_at = v->now;
    if (!view->plain && !concerns(view))
        return NULL;
    v->raced = v->may_race = v->gives_up = v->overtakes = false;
    if (v->defined_next <= view->call->r.enter)
        v->defined_next = live_memories_defined(v, view->call->r.enter);
    uint32_t strand = begin_call(v, view);
    if (v->loss != NULL)
        v->loss->view = view;
    if (view->submits && strand != NO_STRAND)
        strands_at(v, strand)->newest.op = v->now;
    if (view->plain && strand != NO_STRAND) {
        put_on_strand(v, strand);
        touches_of_launch(v, view->call, strand);
    } else {
        v->watched_used = UINT32_MAX;
        take_call(v, view, strand);
    }
    if (v->fresh.count != 0)
        open_edges_end_call(v, v->raced);
    if (v->open > v->sweep_at)
        sweep(v);
    return (v->raced | v->may_race | v->gives_up | v->overtakes) ? found(v) : NULL;
}

void verdicts_end(struct verdicts *v, struct verdict_totals *totals)
{
    if (v == NULL)
        return;
    if (v->model->follower == &v->follower)
        model_orders_unfollow(v->model);
    wait_covers_free(v);
    strands_free(v);
    open_edges_settle_all(v);
    if (totals != NULL)
        *totals = v->totals;
    strand_events_free(v);
    live_memories_free(v);
    signatures_free(v);
    access_cache_free(v);
    open_edges_free(v);
    order_loss_end(v);
    id_map_free(&v->untimed);
    vclock_free(&v->told);
    vclock_free(&v->told_by_any_order);
    vclock_free(&v->value_waits);
    free(v->ends);
    free(v);
}
