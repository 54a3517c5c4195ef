/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts of a run, of orders and of findings, in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_VERDICT_WORDS_H
#define PTDS_ANALYSIS_VIEWS_VERDICT_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/outcome.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For people, and for machines: "maybe needed", "maybe_needed". */
extern const char *const verdict_words[VERDICTS];

extern const char *const verdict_keys[VERDICTS];

extern const char *const outcome_words[DOUBTS]; /* "Right", "May be wrong", "WRONG" */

const char *
verdict_words_outcome(struct outcome outcome); /* as outcome_words, or that the outcome is of a part of the run */

/* The verdicts of all implicit edges, and of those that a finding stands for; NULL: not analysed. */
const uint64_t *verdict_words_all(const struct report *report, uint64_t verdicts[VERDICTS]);

const uint64_t *verdict_words_of_finding(const struct report *report, const struct finding *finding);

/* "3 needed, 1 maybe needed, 12 not needed", "none"; NULL: "not analysed" */
struct line verdict_words_line(const uint64_t *verdicts);

/* What to say beside the advice of a finding, which alone would mislead, where an order at its call site is needed;
 * else NULL. */
const char *verdict_words_needed(const struct report *report, const struct finding *finding);

/* What to say beside the verdict of the run: what became of the order, or what the finding is about. */
const char *verdict_words_doubt(const struct report *report, const struct finding *finding);

/* Whether the policy of this run took an order away that a result needs, and put nothing in its place: the meaning of
 * "!!". */
bool verdict_words_is_wrong(const struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
