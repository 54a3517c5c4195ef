/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON report on several processes, with the keys of a single one where they mean the same.
 */
#ifndef PTDS_ANALYSIS_VIEWS_JSON_MANY_JSON_H
#define PTDS_ANALYSIS_VIEWS_JSON_MANY_JSON_H

#include <jansson.h>

#include "analysis/report/fold.h"
#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One document. 0, or -1 without memory. namer may be NULL. */
int many_json(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink);

/* The same as a value, for the page: for the caller to free; NULL without memory. namer may be NULL. */
json_t *many_json_document(const struct traces *traces, const struct folds *folds, struct site_namer *namer);

#ifdef __cplusplus
}
#endif
#endif
