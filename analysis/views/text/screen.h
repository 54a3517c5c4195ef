/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports of the command's terminal: a first screen, and the details of a selection. Not linked into the shim.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_H
#define PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_H

#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SCREEN_COLUMNS = 80, SCREEN_LEAST_ROWS = 24, SCREEN_MOST_ROWS = 40, SCREEN_FINDINGS = 5 };

/* What fits on one screen of `rows` rows of 80 columns: time lost by class, verdicts, the top findings with advice (at most
 * SCREEN_FINDINGS, a sequence counts as one), what could not be analysed, the next command. `rows` is brought into
 * SCREEN_LEAST_ROWS .. SCREEN_MOST_ROWS; one row is left for the prompt. */
void report_screen(const struct report *report, struct site_namer *namer, unsigned rows, struct text_sink *sink);
/* The calls that a report is about, added up by entry point. */
struct entry_calls {
    uint64_t calls, failed, timed, ns, lost_ns;
};

struct call_stats {
    struct report_watch watch;            /* first; `progress` is the caller's */
    TABLE_OF(struct entry_calls) entries; /* api * 2 + twin */
    bool out_of_memory;
};

void call_stats_begin(struct call_stats *stats);
void call_stats_end(struct call_stats *stats);

/* A report of a selection: its calls, then its findings, at most `most` of them in full. */
void report_details(const struct report *report, const struct call_stats *stats, struct site_namer *namer, size_t most,
                    struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
