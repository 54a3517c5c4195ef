/* SPDX-License-Identifier: Apache-2.0
 *
 * What times on the GPU say: until when a stream's work ran, and, of a call that loads code, how much of it was waiting: it
 * takes some 50 ms of its own. Without such times nobody knows. Called by model_enter and model_leave. Must never count as
 * waiting what may be loading.
 */
#include "analysis/model/gpu_time.h"

#include "analysis/base/add.h"
#include "analysis/model/model.h"

/* From the end of the work that a thread waits for to its return; more than any measured. */
enum { WAKE_NS = 50000 };

void gpu_time_note(struct model *model, const struct call_view *view)
{
    struct model_stream *stream = &model->streams.items[view->target];
    uint64_t after, ns;
    if (view->ran == NULL) {
        stream->last_untimed = view->number;
        return;
    }
    device_runs_times(model->trace, view->ran, &after, &ns);
    uint64_t end = add_capped(add_capped(trace_ns(model->trace, view->call->r.enter), after), ns);
    stream->gpu_until = end > stream->gpu_until ? end : stream->gpu_until;
    stream->last_untimed = 0; /* it came before this one */
}

bool gpu_time_until(const struct model *model, uint32_t slot, uint64_t *until)
{
    const struct model_stream *stream = &model->streams.items[slot];
    *until = stream->gpu_until;
    return model->device.runs.count != 0 && stream->last_untimed <= vclock_get(&model->done, slot);
}

/* How long after the call's begin work that it waits for ran; false: nobody knows. */
static bool work_ns(const struct model *model, const struct call_view *view, uint64_t *ns)
{
    uint64_t enter = trace_ns(model->trace, view->call->r.enter), until = 0;
    if (model->device.runs.count == 0 || view->waits.count > PENDING_KEPT)
        return false;
    for (uint32_t i = 0; i < view->waits.count; i++) {
        uint64_t one;
        if (!gpu_time_until(model, view->waits.slot[i], &one))
            return false;
        until = one > until ? one : until;
    }
    *ns = until > enter ? add_capped(until - enter, WAKE_NS) : 0;
    return true;
}

void gpu_time_of_load(const struct model *model, struct call_view *view)
{
    uint64_t most = 0, all = view->lost_ns;
    bool known = work_ns(model, view, &most);
    view->lost_ns = all < most ? all : most;
    view->at_most_ns = known ? view->lost_ns : all;
    view->blocked = view->lost_ns != 0;
}
