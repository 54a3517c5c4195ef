/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the device times of a trace. Called by report/pass.c and by the exports. A record may come long after its call
 * and in another thread's chunk, so all are read before the calls are. Must not pass on an end before its start.
 */
#include "analysis/trace/device_times.h"

#include <stdlib.h>

static void take(void *data, uint32_t thread, uint16_t kind, const void *fixed)
{
    struct device_times *times = data;
    const struct ptds_rec_DEVICE_TIME *record = fixed;
    const struct device_base_def *base = definitions_device_base(&times->trace->defs, record->base);
    struct device_run run = {
        .enter = record->enter, .thread = record->thread, .start = (int64_t)record->start, .end = (int64_t)record->end};
    (void)thread;
    (void)kind;
    if (base == NULL || base->latest < base->earliest || run.end < run.start)
        return;
    const struct context_def *context = definitions_context(&times->trace->defs, base->context);
    run.device = context != NULL ? context->device : -1;
    run.base = base->earliest + (base->latest - base->earliest) / 2;
    if (TABLE_ADD(&times->runs))
        *TABLE_LAST(&times->runs) = run;
    else
        times->out_of_memory = true;
}

static int by_call(const void *a, const void *b)
{
    const struct device_run *one = a, *two = b;
    if (one->enter != two->enter)
        return one->enter < two->enter ? -1 : 1;
    return one->thread < two->thread ? -1 : one->thread > two->thread;
}

void device_times_begin(struct device_times *times, const struct trace *trace)
{
    *times = (struct device_times){.trace = trace};
    if (trace->defs.device_bases.count == 0)
        return; /* nearly every trace: not read once more for nothing */
    trace_each_record(trace, 1u << PTDS_REC_DEVICE_TIME, take, times);
    if (times->runs.count != 0)
        qsort(times->runs.items, times->runs.count, sizeof *times->runs.items, by_call);
}

const struct device_run *device_times_of(const struct device_times *times, const struct call *call)
{
    struct device_run wanted = {.enter = call->r.enter, .thread = call->thread};
    if (times->runs.count == 0)
        return NULL;
    return bsearch(&wanted, times->runs.items, times->runs.count, sizeof wanted, by_call);
}

/* In floating point, so that no number from the trace overflows. */
static uint64_t whole(double ns)
{
    return ns < 0 ? 0 : ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

void device_run_times(const struct trace *trace, const struct device_run *run, uint64_t *after, uint64_t *ns)
{
    double base = run->base >= run->enter ? (double)trace_ns(trace, run->base - run->enter)
                                          : -(double)trace_ns(trace, run->enter - run->base);
    *after = whole(base + (double)run->start);
    uint64_t end = whole(base + (double)run->end);
    *ns = end > *after ? end - *after : 0;
}

void device_times_end(struct device_times *times)
{
    free(times->runs.items);
    *times = (struct device_times){0};
}
