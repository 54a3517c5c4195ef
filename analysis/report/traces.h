/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of one run: files and folders of them become reports, one a process, ordered by host, rank and process, with
 * clocks that can be compared.
 */
#ifndef PTDS_ANALYSIS_REPORT_TRACES_H
#define PTDS_ANALYSIS_REPORT_TRACES_H

#include <sys/types.h>

#include "analysis/report/report.h"

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

struct traces {
    TABLE_OF(struct traced *) list;
    unsigned unreadable; /* named on the command line, or found in a folder, and not to be read */
    void (*trouble)(void *data, const char *line);
    void *data;
    struct report_watch *watch; /* looks on while each is built; may be NULL */
    bool later;                 /* traces_add only reads them; traced_make is still to come */
};

/* Adds a trace, or the traces in a folder (not below it). What cannot be read is counted and told to `trouble`; so are
 * other files of a folder, which are passed over. False without memory. */
bool traces_add(struct traces *traces, const char *path);
/* How many traces traces_add would find there. */
size_t traces_expected(const char *path);
/* Whether a file is a trace, by its name or by how it begins. */
bool traces_is_trace(const char *path);
/* Makes the report of a trace that was only read (traces->later). walker (walk.h) sees each call; may be NULL. 0, or -1
 * without memory for all of it. */
int traced_make(struct traced *traced, struct walker *walker);
/* After the last traces_add: by host, rank, process, path. */
void traces_order(struct traces *traces);
/* Weighs the findings of all by another floor than the usual one (worth.h). */
void traces_weigh(struct traces *traces, struct floor floor);
void traces_free(struct traces *traces);

/* Of the totals of all, only what is said of GPU times. */
struct report_totals traces_gpu_totals(const struct traces *traces);

/* A moment of a trace in CLOCK_REALTIME ns, by the readings at its start and end; 0 if it has none. */
uint64_t traced_realtime(const struct traced *traced, uint64_t ticks);

/* The earliest beginning of any, in CLOCK_REALTIME ns; 0 if none is known. */
uint64_t traces_origin(const struct traces *traces);
/* A moment in ns from the origin on; from the trace's own beginning where its clock says nothing about other processes, and
 * in ticks where it cannot be converted at all. */
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
