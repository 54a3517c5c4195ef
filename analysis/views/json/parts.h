/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the JSON report, for the JSON of several traces.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_PARTS_H
#define PTDS_ANALYSIS_VIEWS_JSON_PARTS_H

#include <jansson.h>

#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* New references; namer may be NULL. */
json_t *report_json_finding(const struct report *report, struct site_namer *namer, const struct finding *finding);
json_t *report_json_meta(const struct report *report);
json_t *report_json_completeness(const struct report *report);

/* Writes a document with its last newline, and drops it. 0, or -1 without memory for it. */
int report_json_write(json_t *document, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
