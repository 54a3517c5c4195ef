/* SPDX-License-Identifier: Apache-2.0
 *
 * One trace of several: its report, its place among the others in time, its name, what is missing in it.
 */
#ifndef PTDS_ANALYSIS_REPORT_MANY_TRACED_H
#define PTDS_ANALYSIS_REPORT_MANY_TRACED_H

#include <stdbool.h>
#include <sys/types.h>

#include "analysis/report/report.h"
#include "analysis/report/walk_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

struct traced {
    char *path;
    dev_t device; /* and inode: of the file, under whatever name */
    ino_t inode;
    struct trace_source source;
    struct report report;
    uint64_t first_ticks; /* of the first call or clock reading; UINT64_MAX: neither */
    bool has_realtime;    /* traced_realtime means something */
};

/* Makes the report of a trace that was only read (traces->later). walker (walk_calls.h) sees each call; may be NULL.
 * 0; -1 without memory for all of it. */
int traced_make(struct traced *traced, struct walker *walker);

/* A moment of the trace in ns of CLOCK_REALTIME, by the readings at its start and end; 0 if it has no such reading. */
uint64_t traced_realtime(const struct traced *traced, uint64_t ticks);

/* A moment in ns from the origin on; from the beginning of the trace itself where its clock says nothing about other
 * processes; in ticks where they cannot be converted. */
uint64_t traced_time(const struct traced *traced, uint64_t origin, uint64_t ticks);

/* "node1 rank 3 pid 4242" */
void traced_name(const struct traced *traced, char *out, size_t room);

/* Why no conclusion can be drawn from what is not in the trace (records lost, damage, no clean end), one line a reason; how
 * many. `each` may be NULL. */
unsigned traced_incomplete(const struct traced *traced, void (*each)(void *data, const char *line), void *data);

#ifdef __cplusplus
}
#endif
#endif
