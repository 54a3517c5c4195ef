/* SPDX-License-Identifier: Apache-2.0
 *
 * What times on the GPU say of a call that waits, where the trace has them. Called by model_enter and model_leave. Must
 * never make a wait longer, and say nothing where one operation that is waited for has no time.
 */
#include "analysis/model/model.h"

/* From the end of the work that a thread waits for to its return; more than any measured. */
enum { WAKE_NS = 50000 };

/* As far as anybody may add to it. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

void model_gpu_note(struct model *model, const struct call_view *view)
{
    struct model_stream *stream = &model->streams.items[view->target];
    uint64_t after, ns;
    if (view->ran == NULL) {
        stream->last_untimed = view->number;
        return;
    }
    device_run_times(model->trace, view->ran, &after, &ns);
    uint64_t end = plus(plus(trace_ns(model->trace, view->call->r.enter), after), ns);
    stream->gpu_until = end > stream->gpu_until ? end : stream->gpu_until;
    stream->last_untimed = 0; /* it came before this one */
}

void model_gpu_bound(const struct model *model, struct call_view *view)
{
    uint64_t enter = trace_ns(model->trace, view->call->r.enter), until = 0;
    if (view->waits.count > PENDING_KEPT)
        return;
    for (uint32_t i = 0; i < view->waits.count; i++) {
        const struct model_stream *stream = &model->streams.items[view->waits.slot[i]];
        if (stream->last_untimed > vclock_get(&model->done, view->waits.slot[i]))
            return;
        until = stream->gpu_until > until ? stream->gpu_until : until;
    }
    uint64_t most = until > enter ? plus(until - enter, WAKE_NS) : 0;
    view->lost_ns = view->lost_ns < most ? view->lost_ns : most;
    view->blocked = view->lost_ns != 0;
}
