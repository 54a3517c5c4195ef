/* SPDX-License-Identifier: Apache-2.0
 *
 * What the scripts of the page share with the other views.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_SHARED_H
#define PTDS_ANALYSIS_VIEWS_HTML_SHARED_H

#include <jansson.h>

#include "analysis/report/many/fold.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts into `tables` what the scripts share with the other views; and makes what those say of each finding of a
 * report, in order (new references). */
void shared_words(json_t *tables);

json_t *shared_findings(const struct report *report, struct site_namer *namer);

json_t *shared_findings_of_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer);

#ifdef __cplusplus
}
#endif
#endif
