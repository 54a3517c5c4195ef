/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace whose process may still be writing it: is it alive, and which calls are its threads in right now. For `ptds
 * watch`; reads the file and /proc, and never touches the process.
 */
#ifndef PTDS_ANALYSIS_CMD_WATCH_LIVE_H
#define PTDS_ANALYSIS_CMD_WATCH_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "analysis/trace/trace_source.h"
#include "analysis/base/table.h"

/* A thread's call that may block and has not returned. */
struct in_flight {
    uint32_t thread; /* uid */
    struct ptds_now now;
};

struct flights {
    TABLE_OF(struct in_flight) list;
    bool recorded; /* the trace says which calls are in flight at all */
};

/* Reads the calls in flight anew. False without memory. Free with live_free. */
bool live_read(struct flights *flights, const struct trace_source *source);
void live_free(struct flights *flights);

/* Whether the process that the header names is alive: the very process, not a later one with its number. */
bool live_process(const struct ptds_trace_header *header);

/* This machine's clocks, for ages of calls: the ticks that a process writes now, and how many nanoseconds one of them has
 * (measured once, over a few milliseconds). 0: a clock that cannot be read here. */
uint64_t live_ticks(uint32_t clock);
double live_ns_a_tick(uint32_t clock);

/* Notes in the source that its process is alive, if it is, and when. */
void live_note(struct trace_source *source);

/* The trace that a process has mapped for writing; false if it has none (yet). `path` has PATH_MAX bytes. */
bool live_trace_of(pid_t pid, char *path);

#endif
