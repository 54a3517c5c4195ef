/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces in the forms of other tools. A format is one file with a writer and a row in formats.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_H

#include <stdio.h>

#include "analysis/report/edge_feed.h"
#include "analysis/report/walk.h"
#include "analysis/report/fold.h"
#include "analysis/views/words.h"

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

struct export_format {
    const char *name, *what;
    const char *suffix; /* of the default file's name; NULL: goes to stdout by default */
    bool needs_path;
    bool needs_reports; /* made before; else traces that are only read will do, and are gone through once */
    int (*write)(struct export_job *job); /* 0, or -1 with job->error */
};

extern const struct export_format export_formats[];
extern const size_t export_formats_count;

/* For the writers. All calls of a trace, and its edges, if any are to be had: while its report is made, if it is not yet.
 * What stands in the report is there when it returns. 0, or -1 if not all of them could be had. */
int export_walk(const struct export_job *job, struct traced *traced, struct walker *walker, struct edge_sink *edges);
/* A message into job->error; returns -1. */
int export_failed(struct export_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call's bytes if it is a copy or memset of known width, else 0. */
uint64_t export_bytes(const struct call *call);
/* "memcpy device -> pageable", "memset", the kernel's name, ...: what a call put on its stream. */
void export_work_name(const struct report *report, const struct call_view *view, char *out, size_t room);
/* What every export says of its traces, one line a fact: that there are no GPU times, no verdicts, and each gap. */
void export_notes(const struct export_job *job, const struct traced *traced, void (*each)(void *data, const char *line),
                  void *data);

int export_perfetto(struct export_job *job);
int export_sqlite(struct export_job *job);
int export_folded(struct export_job *job);
int export_sarif(struct export_job *job);

#ifdef __cplusplus
}
#endif
#endif
