/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of `ptds watch`: the loop, which `ptds run --watchdog` uses too, and what it prints.
 */
#ifndef PTDS_ANALYSIS_CMD_WATCH_H
#define PTDS_ANALYSIS_CMD_WATCH_H

#include "analysis/cmd/cmd.h"
#include "analysis/cmd/live.h"

/* How long a call may take: at least a millisecond. */
bool watch_duration(const char *text, uint64_t *ns);

/* Watches a trace until its process ends. Returns the command's exit status: findings if a call was in flight for longer
 * than `after_ns`, or when the process was killed. */
int watch_trace(const char *path, uint64_t after_ns);

/* The same for a process that may have no trace yet. */
int watch_process(pid_t pid, uint64_t after_ns);

/* Until it has ended. */
void watch_wait_for_end(pid_t pid);

/* One look at a trace, for the report: ages are told where ns_a_tick is not 0. */
struct watch_view {
    const struct trace_source *source;
    const struct flights *flights;
    uint64_t after_ns; /* calls in flight for less are told in a line, not explained */
    uint64_t now;      /* ticks */
    double ns_a_tick;
    bool ended;     /* the process is no more: all of them are explained */
    bool elsewhere; /* ... or cannot be seen from here */
};

uint64_t watch_age(const struct watch_view *view, const struct ptds_now *now);

/* Who waits for whom, on stderr. */
void watch_report(const struct watch_view *view);

#endif
