/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of `ptds watch`: the loop, which `ptds run --watchdog` uses too, and what it prints.
 */
#ifndef PTDS_ANALYSIS_CMD_WATCH_WATCH_H
#define PTDS_ANALYSIS_CMD_WATCH_WATCH_H

#include "analysis/cmd/watch/live.h"
#include "analysis/cmd/watch/watch_report.h"

/* Reads how long a call may take, at least a millisecond. False: no such duration. */
bool watch_duration(const char *text, uint64_t *ns);

/* Watches a trace until its process ends. Returns the command's exit status: findings if a call was in flight for longer
 * than `after_ns`, or when the process was killed. */
int watch_trace(const char *path, uint64_t after_ns);

/* The same for a process that may have no trace yet. */
int watch_process(pid_t pid, uint64_t after_ns);

/* Returns when the process has ended. */
void watch_wait_for_end(pid_t pid);

uint64_t watch_age(const struct watch_view *view, const struct ptds_now *now);

#endif
