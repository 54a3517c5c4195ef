/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shim prints at exit.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_REPORT_SUMMARY_H
#define PTDS_ANALYSIS_VIEWS_TEXT_REPORT_SUMMARY_H

#include "analysis/base/sink.h"
#include "analysis/report/report.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most 15 lines of at most 100 columns, each begun with "ptds: ". */
void report_summary(const struct report *report, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
