/* SPDX-License-Identifier: Apache-2.0
 *
 * By which policies a finding, or a wait, goes (findings/goes.h), in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_GOES_WORDS_H
#define PTDS_ANALYSIS_VIEWS_GOES_WORDS_H

#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "goes under guarded and per-thread, maybe under stream", "no policy removes it; it may get shorter" */
struct line goes_words(const struct report *report, const struct goes_about *about);
/* The same where the question stands before it: "guarded and per-thread; maybe stream", "no policy" */
struct line goes_policies_line(const struct report *report, const struct goes_about *about);
struct line goes_line(const struct report *report, const struct finding *finding);

/* What a rule declares of all its findings: "no policy", "guarded and per-thread, by call", ... As in docs/rules.md. */
extern const char *const goes_by_words[GOES_BYS];

#ifdef __cplusplus
}
#endif
#endif
