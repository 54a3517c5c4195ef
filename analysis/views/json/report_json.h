/* SPDX-License-Identifier: Apache-2.0
 *
 * A report as JSON, "ptds_report_version": 1, described by report.schema.json. Fields are only ever added; what is not
 * known is null, never 0.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_REPORT_JSON_H
#define PTDS_ANALYSIS_VIEWS_JSON_REPORT_JSON_H

#include <jansson.h>

#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One JSON object and a newline. namer may be NULL. 0, or -1 without memory: then nothing was written. */
int report_json(const struct report *report, struct site_namer *namer, struct text_sink *sink);

/* The same as a value, for the caller to free; NULL without memory. */
json_t *report_json_document(const struct report *report, struct site_namer *namer);

#ifdef __cplusplus
}
#endif
#endif
