// SPDX-License-Identifier: Apache-2.0
//
// replay TRACE: which calls come before which, had the program run under other policies. For tests/oracle/replay_test.py,
// which knows it from the program. A line a call, in order of entry:
//   call THREAD TICKS FUNCTION     the thread by its number in the system; the calls are numbered from 0
//   POLICY CALL...                 of the call above, if it submits something: those before it under the policy; "as-run":
//                                  on the streams that it was really sent to, with the waits that the shim put there
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "analysis/base/vclock.h"
#include "analysis/model/model.h"
#include "analysis/model/model_orders.h"
#include "analysis/model/order.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/trace.h"
#include "analysis/trace/trace_source.h"
}

namespace
{

struct Policy {
    const char *name;
    unsigned policy;
};
const Policy policies[] = {{"legacy", ORDER_LEGACY},
                           {"per-thread", ORDER_PER_THREAD},
                           {"per-thread,remap", ORDER_PER_THREAD | ORDER_REMAPS_EXPLICIT},
                           {"explicit", ORDER_EXPLICIT}};

struct Submitted {
    uint64_t number;            /* the model's */
    std::vector<uint32_t> slot; /* by policy, then as run */
};

void PutBefore(const char *name, const struct order *order, const struct vclock *done, size_t which,
               const std::vector<Submitted> &calls, const Submitted &last)
{
    printf("%s", name);
    for (size_t at = 0; at < calls.size(); at++) {
        uint32_t slot = calls[at].number != 0 ? calls[at].slot[which] : MODEL_NO_SLOT;
        if (slot != MODEL_NO_SLOT &&
            (order_before(order, slot, calls[at].number, last.slot[which]) || vclock_get(done, slot) >= calls[at].number))
            printf(" %zu", at);
    }
    printf("\n");
}

void Put(const struct model *model, const std::vector<Submitted> &calls, const Submitted &last)
{
    size_t count = model->replays.count;
    for (size_t i = 0; i < count; i++)
        PutBefore(policies[i].name, &model->replays.items[i].order, &model->replays.items[i].done, i, calls, last);
    PutBefore("as-run", &model->real, &model->done, count, calls, last);
}

int Replay(struct trace *trace)
{
    struct model model;
    merge merged;
    std::vector<Submitted> calls;
    model_begin(&model, trace);
    for (const Policy &policy : policies)
        if (model_orders_replay(&model, policy.policy) == UINT32_MAX)
            return 1;
    if (merge_begin(&merged, trace) != 0)
        return 1;
    while (const call *next = merge_next(&merged)) {
        call_view view;
        if (!model_enter(&model, next, &view))
            return 1;
        model_leave(&model, &view);
        const struct thread_def *thread = definitions_thread(&trace->defs, next->thread);
        printf("call %" PRIu64 " %" PRIu64 " %s\n", thread != nullptr ? static_cast<uint64_t>(thread->tid) : 0,
               next->r.enter, definitions_api_name(&trace->defs, next->r.api));
        Submitted last = {view.submits ? view.number : 0, {}};
        for (uint32_t i = 0; view.submits && i < model.replays.count; i++)
            last.slot.push_back(model_orders_replay_slot(&model, i, &view));
        last.slot.push_back(view.target);
        if (view.submits)
            Put(&model, calls, last);
        calls.push_back(last);
    }
    merge_end(&merged);
    model_end(&model);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    struct trace_source source;
    struct trace trace;
    char error[TRACE_ERROR_SIZE] = "usage: replay TRACE";
    if (argc != 2 || trace_source_open(&source, argv[1], error) != 0 || trace_read(&trace, &source, error) != 0) {
        fprintf(stderr, "replay: %s\n", error);
        return 2;
    }
    int status = Replay(&trace);
    trace_close(&trace);
    return status;
}
