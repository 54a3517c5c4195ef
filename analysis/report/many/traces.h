/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of one run: files and folders of them become reports, one a process, ordered by host, rank and process, with
 * clocks that can be compared.
 */
#ifndef PTDS_ANALYSIS_REPORT_MANY_TRACES_H
#define PTDS_ANALYSIS_REPORT_MANY_TRACES_H

#include <sys/types.h>

#include "analysis/report/floor.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* How many traces traces_add would find at the path. */
size_t traces_expected(const char *path);
/* Whether a file is a trace, by its name or by how it begins. */
bool traces_is_trace(const char *path);
/* After the last traces_add: by host, rank, process, path. */
void traces_order(struct traces *traces);
/* Weighs the findings of all by another floor than the usual one (rank.h). */
void traces_weigh(struct traces *traces, struct floor floor);
void traces_free(struct traces *traces);

/* The sum of the totals of all traces, filled in only as far as GPU times are concerned. */
struct report_totals traces_gpu_totals(const struct traces *traces);

/* The earliest beginning of a trace, in ns of CLOCK_REALTIME; 0 if none is known. */
uint64_t traces_origin(const struct traces *traces);

#ifdef __cplusplus
}
#endif
#endif
