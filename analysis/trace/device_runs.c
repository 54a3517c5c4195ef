/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the device times of a trace. Called by report/pass/pass_over_calls.c and by the exports. A record may come long
 * after its call and in another thread's chunk, so all are read before the calls are. Must not pass on an end before its
 * start.
 */
#include "analysis/trace/device_runs.h"

#include <stdlib.h>

#include "analysis/trace/records.h"

/* The clocks of host and device agree within so much, beside what is not known of the base. */
enum { APART_NS = 20000 };

/* In floating point, so that no number from the trace overflows. Negative: before the call. */
static double after_call(const struct trace *trace, const struct device_run *run, int64_t ns)
{
    double base = run->base >= run->enter ? (double)trace_ns(trace, run->base - run->enter)
                                          : -(double)trace_ns(trace, run->enter - run->base);
    return base + (double)ns;
}

/* It was no work of this call, then: CUPTI tells by the thread's next operation which one it was. */
static bool ended_before(const struct trace *trace, const struct device_run *run, uint64_t doubt)
{
    return after_call(trace, run, run->end) < -(double)APART_NS - (double)trace_ns(trace, doubt);
}

static void take(void *data, uint32_t thread, uint16_t kind, const void *fixed)
{
    struct device_run_list *times = data;
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
    if (ended_before(times->trace, &run, base->latest - base->earliest))
        return;
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

/* The same moment, counted from another base. The trace may say anything: as it is, where that cannot be counted. */
static int64_t from_base(const struct trace *trace, int64_t ns, uint64_t base, uint64_t other)
{
    uint64_t apart = trace_ns(trace, base > other ? base - other : other - base);
    int64_t moved = ns;
    bool no = apart > INT64_MAX || (base > other ? __builtin_add_overflow(ns, (int64_t)apart, &moved)
                                                 : __builtin_sub_overflow(ns, (int64_t)apart, &moved));
    return no ? ns : moved;
}

/* A call may have had several operations, as a graph's launch has: from the first one's start to the last one's end. */
static void join_calls(struct device_run_list *times)
{
    size_t kept = 0;
    for (size_t i = 1; i < times->runs.count; i++) {
        struct device_run *run = &times->runs.items[i], *before = &times->runs.items[kept];
        if (by_call(before, run) != 0) {
            times->runs.items[++kept] = *run;
            continue;
        }
        int64_t start = from_base(times->trace, run->start, run->base, before->base);
        int64_t end = from_base(times->trace, run->end, run->base, before->base);
        before->start = start < before->start ? start : before->start;
        before->end = end > before->end ? end : before->end;
    }
    times->runs.count = kept + 1;
}

void device_runs_begin(struct device_run_list *times, const struct trace *trace)
{
    *times = (struct device_run_list){.trace = trace};
    if (trace->defs.device_bases.count == 0)
        return; /* nearly every trace: not read once more for nothing */
    records_each(trace, 1u << PTDS_REC_DEVICE_TIME, take, times);
    if (times->runs.count == 0)
        return;
    qsort(times->runs.items, times->runs.count, sizeof *times->runs.items, by_call);
    join_calls(times);
}

const struct device_run *device_runs_of(const struct device_run_list *times, const struct call *call)
{
    struct device_run wanted = {.enter = call->r.enter, .thread = call->thread};
    if (times->runs.count == 0)
        return NULL;
    return bsearch(&wanted, times->runs.items, times->runs.count, sizeof wanted, by_call);
}

static uint64_t whole(double ns)
{
    return ns < 0 ? 0 : ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

void device_runs_times(const struct trace *trace, const struct device_run *run, uint64_t *after, uint64_t *ns)
{
    *after = whole(after_call(trace, run, run->start));
    uint64_t end = whole(after_call(trace, run, run->end));
    *ns = end > *after ? end - *after : 0;
}

void device_runs_end(struct device_run_list *times)
{
    free(times->runs.items);
    *times = (struct device_run_list){0};
}
