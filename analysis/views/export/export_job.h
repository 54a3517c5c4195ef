/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces in the forms of other tools. A format is one file with a writer and a row in export_formats.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_JOB_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_JOB_H

#include <stdio.h>

#include "analysis/report/edges/edge_feed.h"
#include "analysis/report/walk_calls.h"
#include "analysis/report/many/fold.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EXPORT_ERROR_SIZE = 512 };

struct export_job {
    const struct traces *traces;
    const struct folds *folds;
    struct site_namer *namer; /* not NULL */
    struct edge_feed *edges;  /* may be NULL: no edges. The build's own, of traces that are only read */
    const char *source_root;  /* taken off the front of source files' names; may be NULL */
    bool all;                 /* findings too that reports tell in one line with others */
    FILE *out;                /* NULL for formats that need a path */
    const char *path;         /* of an empty file, for those */
    const char *name;         /* what the user calls the file; may be NULL */
    char error[EXPORT_ERROR_SIZE];
};

/* For the writers: walks over the calls of a trace, and over its implicit orders, if the build judges them; makes the
 * report on the way if it is not made yet. 0; -1 if not all calls could be had. */
int export_job_walk(const struct export_job *job, struct traced *traced, struct walker *walker, struct edge_sink *edges);
/* Writes a message into job->error. Returns -1. */
int export_job_failed(struct export_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The bytes of a copy or memset of known width, else 0. */
uint64_t export_job_bytes(const struct call *call);
/* "memcpy device -> pageable", "memset", the kernel's name, ...: what a call put on its stream. */
void export_job_work_name(const struct report *report, const struct call_view *view, char *out, size_t room);
/* What every export says of its traces, one line a fact: that there are no GPU times, no verdicts, and each gap. */
void export_job_notes(const struct export_job *job, const struct traced *traced, void (*each)(void *data, const char *line),
                      void *data);

#ifdef __cplusplus
}
#endif
#endif
