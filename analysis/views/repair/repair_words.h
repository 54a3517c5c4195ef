/* SPDX-License-Identifier: Apache-2.0
 *
 * A repair (repair/repair.h) in words: the patch that a maintainer makes, for text and JSON alike.
 */
#ifndef PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_WORDS_H
#define PTDS_ANALYSIS_VIEWS_REPAIR_REPAIR_WORDS_H

#include "analysis/repair/merge_traces.h"
#include "analysis/repair/repair.h"
#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "3 waits needed, 2 maybe needed, between 4 pairs of call sites"; or that there is nothing to mend. */
struct line repair_summary(const struct repair *repair);
/* "needed, 4 of 5 times" */
struct line repair_title(const struct repair_place *place);
/* The same of several traces: ", in 3 of 5 traces" is added where there are several. */
struct line repairs_title(const struct repairs *repairs, size_t place);
/* "3 waits needed, ...; needed in 2 of 5 traces, maybe needed in 1 more" */
struct line repairs_summary(const struct repairs *repairs);
/* How to read them, a line each, as far as it applies. */
void repair_notes(const struct repair *repair, void (*each)(void *data, const char *line), void *data);
/* The lines of a place: what to record, where to wait, what for. namer may be NULL. */
void repair_words(const struct report *report, struct site_namer *namer, const struct repair_place *place,
                  void (*each)(void *data, const char *line), void *data);

/* The first `most` places, and what holds for all. */
void repair_text(const struct report *report, const struct repair *repair, struct site_namer *namer, size_t most,
                 struct text_sink *sink);
void repairs_text(const struct repairs *repairs, const struct traces *traces, struct site_namer *namer, size_t most,
                  struct text_sink *sink);

#define REPAIR_TITLE "Repair: the event waits that keep results right if compiled with --default-stream per-thread"

#ifdef __cplusplus
}
#endif
#endif
