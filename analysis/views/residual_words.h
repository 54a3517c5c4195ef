/* SPDX-License-Identifier: Apache-2.0
 *
 * What still serialises (report/residual.h), in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_RESIDUAL_WORDS_H
#define PTDS_ANALYSIS_VIEWS_RESIDUAL_WORDS_H

#include "analysis/base/line.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const residual_kind_keys[RESIDUAL_KINDS];
#define RESIDUAL_TITLE "Of that, by what was waited for, and which policy removes it:"
/* Fills in the kinds that cost time, the costliest first. Returns how many; 0: nothing is known, or there is none. */
unsigned residual_words_ranked(const struct report *report, enum residual_kind ranked[RESIDUAL_KINDS]);
/* "held up by another thread's call: no policy" */
struct line residual_words_reason(const struct report *report, enum residual_kind kind);
/* "8.1 ms, held up by another thread's call: no policy" */
struct line residual_words_line(const struct report *report, enum residual_kind kind);
/* Several kinds as one: "1.2 ms, 3 other reasons" */
struct line residual_words_rest(const struct report *report, const enum residual_kind *kinds, unsigned count);
/* "37 calls; 8.0 ms of it cuMemcpyDtoH_v2 at overlap+0x1219": the costliest call site. namer may be NULL. */
struct line residual_words_place(const struct report *report, struct site_namer *namer, enum residual_kind kind);

#ifdef __cplusplus
}
#endif
#endif
