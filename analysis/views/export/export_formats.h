/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats of `ptds export`. A format is one file with a writer, and a row in export_formats.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_FORMATS_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_EXPORT_FORMATS_H

#include "analysis/views/export/export_job.h"

#ifdef __cplusplus
extern "C" {
#endif

struct export_format {
    const char *name, *what;
    const char *suffix; /* of the default file's name; NULL: goes to stdout by default */
    bool needs_path;
    bool needs_reports; /* made before; else traces that are only read will do, and are gone through once */
    int (*write)(struct export_job *job); /* 0, or -1 with job->error */
};
extern const struct export_format export_formats[];
extern const size_t export_formats_count;

/* Writers, one a format. 0; -1 with a message in job->error. */
typedef int export_writer(struct export_job *job);
export_writer export_perfetto, export_sqlite, export_folded, export_sarif;

#ifdef __cplusplus
}
#endif
#endif
