/* SPDX-License-Identifier: Apache-2.0
 *
 * A repair (repair/repair.h) in words: the patch that a maintainer makes, for text and JSON alike.
 */
#ifndef PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_WORDS_H
#define PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_WORDS_H

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/repair/repair.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "3 waits needed, 2 maybe needed, between 4 pairs of call sites"; or that there is nothing to mend. */
struct line repair_words_summary(const struct repair *repair);
/* "needed, 4 of 5 times" */
struct line repair_words_title(const struct repair_place *place);
/* The same of several traces: ", in 3 of 5 traces" is added where there are several. */
struct line repair_words_many_title(const struct repairs *repairs, size_t place);
/* "3 waits needed, ...; needed in 2 of 5 traces, maybe needed in 1 more" */
struct line repair_words_many_summary(const struct repairs *repairs);
/* How to read them, a line each, as far as it applies. */
void repair_words_notes(const struct repair *repair, void (*each)(void *data, const char *line), void *data);
/* The lines of a place: what to record, where to wait, what for. namer may be NULL. */
void repair_words(const struct report *report, struct site_namer *namer, const struct repair_place *place,
                  void (*each)(void *data, const char *line), void *data);

#define REPAIR_TITLE "Repair: the event waits that keep results right if compiled with --default-stream per-thread"

#ifdef __cplusplus
}
#endif
#endif
