/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON report on several processes as a value, for the page.
 */
#ifndef PTDS_ANALYSIS_MANY_MANY_JSON_H
#define PTDS_ANALYSIS_MANY_MANY_JSON_H

#include <jansson.h>

#include "analysis/many/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For the caller to free; NULL without memory. namer may be NULL. */
json_t *many_json_document(const struct traces *traces, const struct folds *folds, struct site_namer *namer);

#ifdef __cplusplus
}
#endif
#endif
