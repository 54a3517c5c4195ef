/* SPDX-License-Identifier: Apache-2.0
 *
 * The implicit orders of a report, as text.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_EDGES_TEXT_H
#define PTDS_ANALYSIS_VIEWS_TEXT_EDGES_TEXT_H

#include "analysis/base/sink.h"
#include "analysis/report/report.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For report_text: the section about implicit orders. Nothing where they were not analysed. */
void edges_text(const struct report *report, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
