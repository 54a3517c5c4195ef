/* SPDX-License-Identifier: Apache-2.0
 *
 * A repair as text.
 */
#ifndef PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_TEXT_H
#define PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_TEXT_H

#include "analysis/base/sink.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first `most` places, and what holds for all. */
void repair_text(const struct report *report, const struct repair *repair, struct site_namer *namer, size_t most,
                 struct text_sink *sink);

void repair_text_many(const struct repairs *repairs, const struct traces *traces, struct site_namer *namer, size_t most,
                      struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
