/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of a call's duration was waiting: what it took beyond a quick call of the same API, and only if there was
 * something to wait for. A quick call is the 5th percentile of the whole trace, but never more than what such a call is
 * known to take (a trace may hold nothing but blocked ones), and never less than the same API took with nothing pending.
 */
#include "analysis/model/cost.h"

#include "analysis/model/gpu_time.h"
#include "analysis/model/model.h"

enum { QUICK_PERCENT = 5, MOST_QUICK_NS = 20000, MOST_QUICK_LOAD_NS = 200000, COPY_BYTES_A_NS = 8, SLACK_NS = 5000 };
/* Slow machines' figures: pinning touches every page, device memory is mapped in large ones. */
enum { ALLOC_BYTES_A_NS = 64, PINNED_NS_A_BYTE = 1 };

void cost_begin(struct model *model)
{
    size_t count = model->trace->durations.count;
    void *quick = table_grow(NULL, &model->quick.room, count, sizeof *model->quick.items);
    void *idle = table_grow(NULL, &model->idle.room, count, sizeof *model->idle.items);
    model->quick.items = quick;
    model->idle.items = idle;
    if (quick == NULL || idle == NULL)
        return;
    model->quick.count = model->idle.count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t ticks = trace_quick_ticks(model->trace, (uint32_t)(i / 2), i % 2 != 0, QUICK_PERCENT);
        model->quick.items[i] = ticks != UINT64_MAX ? trace_ns(model->trace, ticks) : UINT64_MAX;
    }
}

static bool is_load(unsigned op)
{
    return op == PTDS_OP_MODULE_LOAD || op == PTDS_OP_MODULE_UNLOAD || op == PTDS_OP_FUNCTION_LOAD;
}

static uint64_t copy_ns(const struct call *call)
{
    uint64_t width = call_word(call, 2), height = call_word(call, 3), bytes;
    if (call->r.op != PTDS_OP_COPY)
        return 0;
    if (__builtin_mul_overflow(width, height != 0 ? height : 1, &bytes))
        bytes = UINT64_MAX;
    return bytes / COPY_BYTES_A_NS;
}

static uint64_t baseline(const struct model *model, const struct call_view *view, size_t at)
{
    uint64_t quick = is_load(view->call->r.op) ? MOST_QUICK_LOAD_NS : MOST_QUICK_NS;
    uint64_t seen = at < model->quick.count ? model->quick.items[at] : quick;
    quick = seen < quick ? seen : quick;
    if (view->call->r.op == PTDS_OP_COPY)
        return quick + copy_ns(view->call);
    if (at < model->idle.count && model->idle.items[at] > quick)
        quick = model->idle.items[at] - 1;
    return quick;
}

uint64_t cost_alloc_ns(const struct call *call)
{
    uint64_t kind = call_word(call, 2), bytes = call_word(call, 1) & (UINT64_MAX >> 1);
    if (call->r.op != PTDS_OP_ALLOC)
        return 0;
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED ? bytes * PINNED_NS_A_BYTE
                                                                        : bytes / ALLOC_BYTES_A_NS;
}

uint64_t cost_usual_ns(const struct model *model, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    size_t at = (size_t)call->api * 2 + (call->flags & PTDS_CALL_TWIN ? 1 : 0);
    uint64_t ns = at < model->quick.count ? model->quick.items[at] : UINT64_MAX;
    if (ns == UINT64_MAX || __builtin_add_overflow(ns, copy_ns(view->call) + cost_alloc_ns(view->call), &ns))
        return UINT64_MAX;
    return ns;
}

void cost_of_call(struct model *model, struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    size_t at = (size_t)call->api * 2 + (call->flags & PTDS_CALL_TWIN ? 1 : 0);
    view->timed = (call->flags & PTDS_CALL_TIMED) && call->leave >= call->enter && trace_has_time(model->trace);
    view->ns = view->timed ? trace_ns(model->trace, call->leave - call->enter) : 0;
    if (view->scope == WAIT_NONE || call->op == PTDS_OP_STREAM_QUERY || call->op == PTDS_OP_EVENT_QUERY)
        return;
    if (view->waits.count == 0) {
        if (view->timed && at < model->idle.count && (model->idle.items[at] == 0 || view->ns < model->idle.items[at]))
            model->idle.items[at] = view->ns + 1;
        return;
    }
    model->untimed_waits += !view->timed;
    uint64_t quick = baseline(model, view, at);
    view->blocked = view->timed && view->ns > SLACK_NS && (view->ns - SLACK_NS) / 2 > quick;
    view->lost_ns = view->blocked ? view->ns - quick : 0;
    if (view->blocked && is_load(call->op))
        gpu_time_of_load(model, view);
}
