/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls in flight of hold.h. Called by model.c for every call, so it must cost nothing while no call is long; bounded
 * by HOLDS_KEPT, of which those that end last are kept.
 */
#include "analysis/model/hold.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/model/cost.h"
#include "analysis/model/model.h"

/* Shorter ones hold nobody up for long enough to be worth a finding. */
enum { LEAST_HOLD_NS = 50000, SLACK_NS = 5000, FAR_LONGER = 4 };

static bool far_longer(const struct call_view *view, uint64_t usual)
{
    return usual != UINT64_MAX && view->ns > SLACK_NS && (view->ns - SLACK_NS) / FAR_LONGER > usual;
}

static void drop_ended(struct holds *holds, uint64_t now)
{
    for (uint32_t i = 0; i < holds->count;) {
        if (holds->kept[i].call.r.leave <= now)
            holds->kept[i] = holds->kept[--holds->count];
        else
            i++;
    }
}

/* Whether the call returned as soon as the other one let it: after it, by no more than the call itself takes. What loads
 * code or maps memory lets go somewhat before it returns. */
static bool right_after(const struct model *model, const struct hold *hold, const struct call_view *view, uint64_t usual)
{
    uint64_t leave = view->call->r.leave, held = hold->call.r.leave;
    if (leave >= held)
        return trace_ns(model->trace, leave - held) <= 2 * usual + SLACK_NS;
    return trace_ns(model->trace, held - leave) <= (hold->kind == HOLD_OTHER ? SLACK_NS : hold->ns / 4);
}

void hold_enter(struct model *model, struct call_view *view)
{
    struct holds *holds = &model->holds;
    const struct ptds_rec_CALL *call = &view->call->r;
    drop_ended(holds, call->enter);
    if (holds->count == 0 || !view->timed || view->waits.count != 0)
        return;
    uint64_t usual = cost_usual_ns(model, view);
    if (!far_longer(view, usual))
        return;
    for (uint32_t i = 0; i < holds->count; i++) {
        struct hold *hold = &holds->kept[i];
        if (hold->call.thread == view->call->thread || !right_after(model, hold, view, usual))
            continue;
        if (view->held_by == NULL || hold->call.r.leave > view->held_by->call.r.leave)
            view->held_by = hold;
    }
    if (view->held_by == NULL)
        return;
    uint64_t until = view->held_by->call.r.leave < call->leave ? view->held_by->call.r.leave : call->leave;
    uint64_t held = trace_ns(model->trace, until - call->enter);
    view->held_ns = held < view->ns - usual ? held : view->ns - usual;
}

static bool is_pin(const struct call_view *view)
{
    uint64_t kind = call_word(view->call, 2);
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED;
}

/* False for calls that wait for the GPU without holding anything, as far as that is known. */
static bool kind_of(const struct model *model, const struct call_view *view, enum hold_kind *kind)
{
    switch (view->call->r.op) {
    case PTDS_OP_MODULE_LOAD:
    case PTDS_OP_MODULE_UNLOAD:
    case PTDS_OP_FUNCTION_LOAD: *kind = HOLD_LOAD; return true;
    case PTDS_OP_ALLOC: *kind = is_pin(view) ? HOLD_PIN : HOLD_ALLOC; return true;
    default:
        *kind = HOLD_OTHER;
        return view->waits.count == 0 && view->held_by == NULL && far_longer(view, cost_usual_ns(model, view));
    }
}

void hold_leave(struct model *model, const struct call_view *view)
{
    struct holds *holds = &model->holds;
    enum hold_kind kind;
    if (!view->timed || view->ns < LEAST_HOLD_NS || !kind_of(model, view, &kind))
        return;
    if (holds->kept == NULL)
        holds->kept = heap_zeroed(HOLDS_KEPT, sizeof *holds->kept);
    if (holds->kept == NULL)
        return;
    struct hold *place = &holds->kept[0];
    if (holds->count < HOLDS_KEPT)
        place = &holds->kept[holds->count++];
    else
        for (uint32_t i = 1; i < HOLDS_KEPT; i++)
            if (holds->kept[i].call.r.leave < place->call.r.leave)
                place = &holds->kept[i];
    *place = (struct hold){.call = *view->call, .kind = kind, .ns = view->ns};
}
