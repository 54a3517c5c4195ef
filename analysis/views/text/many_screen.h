/* SPDX-License-Identifier: Apache-2.0
 *
 * A report on several processes, on one screen.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_MANY_SCREEN_H
#define PTDS_ANALYSIS_VIEWS_TEXT_MANY_SCREEN_H

#include "analysis/base/sink.h"
#include "analysis/report/many/fold.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What fits on one screen of `rows` rows: the verdicts, what the default stream costs, the findings that are worth a line,
 * the others by cause, the next command. */
void many_screen(const struct traces *traces, const struct folds *folds, struct site_namer *namer, unsigned rows,
                 struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
