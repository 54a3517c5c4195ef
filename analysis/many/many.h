/* SPDX-License-Identifier: Apache-2.0
 *
 * The report on several processes: who they were, what they lost together, and each finding with its spread over them.
 */
#ifndef PTDS_ANALYSIS_MANY_MANY_H
#define PTDS_ANALYSIS_MANY_MANY_H

#include "analysis/many/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* namer may be NULL (symbols.h). */
void many_text(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink);

/* One document with the keys of a single report where they mean the same. 0, or -1 without memory. */
int many_json(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
