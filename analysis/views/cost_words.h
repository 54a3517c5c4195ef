/* SPDX-License-Identifier: Apache-2.0
 *
 * What the default stream costs a run, in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_COST_WORDS_H
#define PTDS_ANALYSIS_VIEWS_COST_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By enum default_cost: why there is nothing to gain, to stand behind "nothing to gain: "; NULL: there may be. */
extern const char *const cost_words_no_gain[DEFAULT_COSTS];

/* Adds what is known of DEFAULT_UP_TO: "it costs 27.0 ms to 32.9 ms of ...", "threads waited up to ...". */
void cost_words_add(const struct report *report, const struct default_stream *found, struct line *line);

#ifdef __cplusplus
}
#endif
#endif
