/* SPDX-License-Identifier: Apache-2.0
 *
 * A report as JSON, "ptds_report_version": 1. Fields are only ever added; what is not known is null, never 0.
 */
#ifndef PTDS_ANALYSIS_REPORT_JSON_H
#define PTDS_ANALYSIS_REPORT_JSON_H

#include "analysis/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One JSON object and a newline. namer may be NULL. 0, or -1 without memory: then nothing was written. */
int report_json(const struct report *report, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
