/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up what gain.h says. Called by the rules about implicit order and by the report's pass for calls that blocked. Takes
 * memory by streams and threads, and must never say less than could be gained.
 */
#include "analysis/findings/gain.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_orders.h"

void gain_joins(struct gain *gain, const struct model *model, uint32_t slot, bool among_threads)
{
    gain->joins++;
    gain->among_threads |= among_threads;
    uint64_t *joined = slot != MODEL_NO_SLOT ? TABLE_AT(&gain->joined, slot) : NULL;
    if (joined != NULL)
        *joined = model->op; /* the number of the operation */
}

/* The oldest span will not be touched any more: what is said of the time before its end from now on counts in full. */
static void settle_oldest(struct gain *gain)
{
    gain->settled_ns += gain->span[0].end - gain->span[0].begin;
    gain->settled_until = gain->span[0].end;
    gain->spans--;
    for (uint32_t i = 0; i < gain->spans; i++)
        gain->span[i] = gain->span[i + 1];
}

/* Into the spans, which are in order and apart. */
static void add_span(struct gain *gain, struct gain_span span)
{
    uint32_t at = gain->spans, kept;
    while (at > 0 && gain->span[at - 1].end >= span.begin)
        at--;
    for (kept = at; kept < gain->spans && gain->span[kept].begin <= span.end; kept++) {
        span.begin = gain->span[kept].begin < span.begin ? gain->span[kept].begin : span.begin;
        span.end = gain->span[kept].end > span.end ? gain->span[kept].end : span.end;
    }
    uint32_t left = gain->spans - kept;
    memmove(&gain->span[at + 1], &gain->span[kept], left * sizeof span);
    gain->span[at] = span;
    gain->spans = at + 1 + left;
}

/* The last `ns` before a moment. */
static void add(struct gain *gain, const struct trace *trace, uint64_t ticks, uint64_t ns)
{
    struct gain_span span = {.end = trace_ns(trace, ticks > gain->start ? ticks - gain->start : 0)};
    span.begin = span.end > ns ? span.end - ns : 0;
    if (gain->spans == GAIN_SPANS)
        settle_oldest(gain);
    if (span.begin < gain->settled_until) {
        uint64_t until = span.end < gain->settled_until ? span.end : gain->settled_until;
        gain->settled_ns += until - span.begin;
        span.begin = until;
    }
    if (span.begin < span.end)
        add_span(gain, span);
}

static void tell(const struct gain *gain, uint32_t thread, uint64_t enter)
{
    if (gain->tell != NULL)
        gain->tell(gain->told, thread, enter);
}

/* All of the call's wait. */
static void add_wait(struct gain *gain, const struct model *model, const struct call_view *view)
{
    add(gain, model->trace, view->call->r.leave, view->lost_ns);
    tell(gain, view->call->thread, view->call->r.enter);
}

/* What the call waits for: work that implicit order had put behind other work, and work of other threads. */
static void look_at(const struct gain *gain, const struct model *model, const struct call_view *view, bool *behind,
                    bool *others)
{
    *behind = *others = false;
    for (uint32_t i = 0; i < view->waits.count && i < PENDING_KEPT; i++) {
        uint32_t slot = view->waits.slot[i];
        *behind |= slot < gain->joined.count && gain->joined.items[slot] > vclock_get(&model->done, slot);
        *others |= model->streams.items[slot].last_thread != view->call->thread;
    }
}

/* Whether the stream's clock has work that the call waits for. */
static bool is_behind_waits(const struct model *model, const struct call_view *view, uint32_t slot)
{
    const struct vclock *clock = &model->real.streams.items[slot].clock;
    for (uint32_t i = 0; i < view->waits.count && i < PENDING_KEPT; i++)
        if (view->waits.slot[i] != slot &&
            vclock_get(clock, view->waits.slot[i]) > vclock_get(&model->done, view->waits.slot[i]))
            return true;
    return false;
}

/* Whether the stream or event that the call names comes after an event's record, or a wait for an event, which implicit
 * order had put behind work that the call waits for. Such operations are no work: nobody waits for them alone. What a
 * stream that takes part in implicit order got new by the legacy one is noted as joined of that stream itself. */
static bool is_behind_events(const struct gain *gain, struct model *model, const struct call_view *view)
{
    if (view->waits.count == 0 || (view->scope != WAIT_STREAM && view->scope != WAIT_EVENT))
        return false;
    const struct vclock *covered = model_orders_covered(model, view);
    bool takes_part = view->scope == WAIT_STREAM && implicit_order_role(view->target_kind) == ORDER_ROLE_BLOCKING;
    for (uint32_t slot = 0; slot < gain->joined.count; slot++) {
        uint64_t joined = gain->joined.items[slot];
        if (takes_part && model->streams.items[slot].kind == PTDS_STREAM_LEGACY)
            continue;
        if (joined > vclock_get(&model->done, slot) && vclock_get(covered, slot) >= joined &&
            is_behind_waits(model, view, slot))
            return true;
    }
    return false;
}

/* On a stream of the thread's own there would be nothing of what another thread has put on the legacy one. */
static bool is_for_another(const struct model *model, const struct call_view *view)
{
    return view->target_kind == PTDS_STREAM_LEGACY && model_is_pending(model, view->target) &&
           model->streams.items[view->target].last_thread != view->call->thread;
}

void gain_blocked(struct gain *gain, struct model *model, const struct call_view *view)
{
    bool behind, others;
    if (!gain->begun)
        gain->start = view->call->r.enter;
    gain->begun = true;
    if (view->scope == WAIT_CONTEXT && !view->completes) /* it may only have loaded, whatever stream work is on */
        return;
    bool itself = view->target < gain->joined.count && gain->joined.items[view->target] == view->number;
    look_at(gain, model, view, &behind, &others);
    if (behind || (itself && others) || is_for_another(model, view) || (!itself && is_behind_events(gain, model, view))) {
        add_wait(gain, model, view);
        return;
    }
    struct saving *own = itself ? TABLE_AT(&gain->own, view->thread) : NULL;
    if (own != NULL) {
        gain->open += !own->open;
        saving_begin(own, model, view);
    }
}

void gain_waits(struct gain *gain, const struct model *model, const struct call_view *view)
{
    gain->waits++;
    if (gain->begun && view->blocked)
        add_wait(gain, model, view);
}

void gain_look_now(struct gain *gain, const struct model *model, const struct call_view *view)
{
    struct saving *own = view->thread < gain->own.count ? &gain->own.items[view->thread] : NULL;
    if (own == NULL || !own->open)
        return;
    saving_look(own, model->trace, view);
    if (own->open)
        return;
    gain->open--;
    add(gain, model->trace, own->leave, own->saved_ns);
    if (own->saved_ns != 0)
        tell(gain, own->thread, own->enter);
}

uint64_t gain_most(const struct gain *gain)
{
    uint64_t most = gain->settled_ns;
    for (uint32_t i = 0; i < gain->spans; i++)
        most += gain->span[i].end - gain->span[i].begin;
    return most;
}

void gain_free(struct gain *gain)
{
    free(gain->joined.items);
    free(gain->own.items);
    *gain = (struct gain){0};
}
