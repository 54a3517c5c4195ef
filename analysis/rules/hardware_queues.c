/* SPDX-License-Identifier: Apache-2.0
 *
 * hardware-queues: more streams of a context had work pending at once than the device has queues for the process
 * (CUDA_DEVICE_MAX_CONNECTIONS), so that independent streams may share one and wait for each other. Run by the pass for
 * every submission. "Pending" is what is not known to be done, so the number is the most there may have been.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/findings/rule.h"

enum { USUAL_QUEUES = 8, MOST_QUEUES = 32, CONTEXTS = 8 };

struct state {
    uint32_t queues; /* 0: not looked up */
    struct {
        uint32_t context; /* position + 1, 0 free */
        struct finding *finding;
    } found[CONTEXTS];
};

static uint32_t queues_of(const struct trace *trace)
{
    const char *value = definitions_setting(&trace->defs, "CUDA_DEVICE_MAX_CONNECTIONS");
    unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
    return number >= 1 && number <= MOST_QUEUES ? (uint32_t)number : USUAL_QUEUES;
}

static struct finding *finding_of(struct rule_run *run, struct state *state, uint32_t context)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (state->found[i].context == context + 1)
            return state->found[i].finding;
        if (state->found[i].context != 0)
            continue;
        char text[64];
        snprintf(text, sizeof text, "CUDA_DEVICE_MAX_CONNECTIONS=%u%s", state->queues,
                 definitions_setting(&run->trace->defs, "CUDA_DEVICE_MAX_CONNECTIONS") != NULL ? "" : " (not set)");
        state->found[i].context = context + 1;
        state->found[i].finding = finding_about(&run->findings, run->rule, 0, text);
        finding_add(state->found[i].finding, FINDING_CONTEXTS, run->model->contexts.items[context].uid);
        return state->found[i].finding;
    }
    return NULL;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    if (!view->work || model_is_pending(run->model, view->target))
        return;
    if (state->queues == 0)
        state->queues = queues_of(run->trace);
    if (run->model->contexts.items[view->context].busy.count < state->queues)
        return;
    struct pending pending;
    model_pending(run->model, view->context, ORDER_OF_ALL, view->target, &pending);
    if (pending.count < state->queues)
        return;
    struct finding *finding = rule_asks_of(run, view) ? finding_of(run, state, view->context) : NULL;
    if (finding == NULL)
        return;
    finding->first = finding->count == 0 ? view->call->r.enter : finding->first;
    finding->last = view->call->r.enter;
    finding->count++;
    finding_add(finding, FINDING_THREADS, view->call->thread);
    finding_add(finding, FINDING_STREAMS, run->model->streams.items[view->target].uid);
    finding_add_pending(finding, run->model, &pending);
    finding_most(finding, "streams_at_once", (uint64_t)pending.count + 1);
    finding_most(finding, "queues", state->queues);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "hardware-queues",
    .class_ = "H11",
    .removed_by = REMOVED_WITH_REMAP,
    .severity = SEVERITY_NOTE,
    .title = "more busy streams than hardware queues",
    .sentence = "Streams that share one of the device's queues may wait for each other though nothing orders them; moving "
                "work to other streams cannot remove that.",
    .advice = "Use fewer streams at a time, issue work breadth first, or raise CUDA_DEVICE_MAX_CONNECTIONS (up to 32).",
    .bad = "setting CUDA_DEVICE_MAX_CONNECTIONS=2\n"
           "1@0 launch s=N1 k=a\n"
           "1@10 launch s=N2 k=a\n"
           "1@20 launch s=N3 k=a\n",
    .good = "1@0 launch s=N1 k=a\n"
            "1@1 launch s=N2 k=a\n"
            "1@2 launch s=N3 k=a\n"
            "1@3 launch s=N4 k=a\n"
            "1@4 launch s=N5 k=a\n"
            "1@5 launch s=N6 k=a\n"
            "1@6 launch s=N7 k=a\n"
            "1@7 launch s=N8 k=a\n"
            "1@8 launch s=N8 k=a\n"
            "1@10+900 sync s=N1\n"
            "1@1000 launch s=N9 k=a\n",
    .ops = RULE_SUBMITS,
    .state = sizeof(struct state),
    .cases = CASE_FIRST,
    .on_call = on_call,
};
PTDS_RULE(rule);
