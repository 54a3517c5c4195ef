/* SPDX-License-Identifier: Apache-2.0
 *
 * When operations ran on their device, where the trace says so: sampled, or from CUPTI.
 */
#ifndef PTDS_ANALYSIS_TRACE_DEVICE_RUNS_H
#define PTDS_ANALYSIS_TRACE_DEVICE_RUNS_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a GPU runs work of this kind (enum ptds_op): the shim takes times of it. */
static inline bool device_runs_has(unsigned op)
{
    return op == PTDS_OP_LAUNCH || op == PTDS_OP_GRAPH_LAUNCH || op == PTDS_OP_COPY || op == PTDS_OP_MEMSET;
}

struct device_run {
    uint64_t enter; /* the call's, with its thread */
    uint32_t thread;
    int32_t device;     /* -1: the trace does not say */
    uint64_t base;      /* ticks, the middle of what is known of the device's time 0 */
    int64_t start, end; /* ns after it */
};

struct device_run_list {
    const struct trace *trace;
    TABLE_OF(struct device_run) runs; /* by enter, then thread */
    bool out_of_memory;
};

void device_runs_begin(struct device_run_list *times, const struct trace *trace);
/* When the work of the call ran; NULL: not recorded. Owned by the list. */
const struct device_run *device_runs_of(const struct device_run_list *times, const struct call *call);
/* How long after the begin of its call the work began (never before it), and how long it ran. Without meaning unless
 * trace_has_time. */
void device_runs_times(const struct trace *trace, const struct device_run *run, uint64_t *after, uint64_t *ns);
void device_runs_end(struct device_run_list *times);

#ifdef __cplusplus
}
#endif

#endif
