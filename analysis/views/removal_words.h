/* SPDX-License-Identifier: Apache-2.0
 *
 * By which policies a finding, or a wait, goes (findings/removed_by_policy.h), in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_REMOVAL_WORDS_H
#define PTDS_ANALYSIS_VIEWS_REMOVAL_WORDS_H

#include "analysis/base/line.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "disappears with guarded and per-thread; maybe with stream", "no policy removes it; it may get shorter" */
struct line removal_words(const struct report *report, const struct removed_question *about);
/* The same as an answer to a question that stands before it: "guarded and per-thread; maybe stream", "no policy". */
struct line removal_words_policies(const struct report *report, const struct removed_question *about);
/* removal_words of a finding. */
struct line removal_words_finding(const struct report *report, const struct finding *finding);

/* By enum removed_by: what a rule declares of all its findings, "no policy", "guarded and per-thread, by call", ... As
 * in docs/rules.md. */
extern const char *const removed_by_words[REMOVED_BYS];

#ifdef __cplusplus
}
#endif
#endif
