/* SPDX-License-Identifier: Apache-2.0
 *
 * A call that had not returned when the trace ended, in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_STUCK_WORDS_H
#define PTDS_ANALYSIS_VIEWS_STUCK_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/outcome.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "Stuck: #1 cuMemcpyDtoH_v2 did not return for 12.4 s, since 14:03:07 UTC, behind spin on stream 1": of an outcome that
 * has such a call. */
struct line stuck_words_line(const struct report *report, const struct outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
