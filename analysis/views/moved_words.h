/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run that moved work is told first: what was moved, and what its threads still wait for.
 */
#ifndef PTDS_ANALYSIS_VIEWS_MOVED_WORDS_H
#define PTDS_ANALYSIS_VIEWS_MOVED_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "threads wait only for their own work now", "threads waited 27.5 ms for their own work, 66.9 ms for other work (most: the
 * legacy stream used explicitly (0x1): PTDS_EXPLICIT_LEGACY=remap)", of at most `columns` bytes. Waits for own work are as
 * on any stream. Of a report that residual_find has looked at; of others how long threads waited. */
struct line moved_words_waits(const struct report *report, size_t columns);

#ifdef __cplusplus
}
#endif
#endif
