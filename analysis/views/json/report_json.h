/* SPDX-License-Identifier: Apache-2.0
 *
 * A report as JSON, "ptds_report_version": 1, on one trace or on several, and the schema of both. Every field is a row of
 * report.def.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_REPORT_JSON_H
#define PTDS_ANALYSIS_VIEWS_JSON_REPORT_JSON_H

#include <jansson.h>

#include "analysis/base/sink.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/report/many/fold.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values for the caller to free; NULL without memory. namer and repairs may be NULL: none was asked for. */
json_t *report_json_document(const struct report *report, const struct repair *repair, struct site_namer *namer);
json_t *report_json_many_document(const struct traces *traces, const struct folds *folds, const struct repairs *repairs,
                                  struct site_namer *namer);

/* The same written, with a newline, and the schema. 0, or -1 without memory: then nothing was written. */
int report_json(const struct report *report, struct site_namer *namer, struct text_sink *sink);
/* With the repair, which may be NULL. */
int report_json_repaired(const struct report *report, const struct repair *repair, struct site_namer *namer,
                         struct text_sink *sink);
int report_json_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer,
                     struct text_sink *sink);
int report_json_many_repaired(const struct traces *traces, const struct folds *folds, const struct repairs *repairs,
                              struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
