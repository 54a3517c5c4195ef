/* SPDX-License-Identifier: Apache-2.0
 *
 * The text report on several processes: who they were, what they lost together, and each finding with its spread over them.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_MANY_TEXT_H
#define PTDS_ANALYSIS_VIEWS_TEXT_MANY_TEXT_H

#include "analysis/base/sink.h"
#include "analysis/report/many/fold.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* namer may be NULL (symbolizer.h). */
void many_text(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
