/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports of the command's terminal: a first screen, and the details of a selection. Not linked into the shim.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_REPORT_SCREEN_H
#define PTDS_ANALYSIS_VIEWS_TEXT_REPORT_SCREEN_H

#include "analysis/base/sink.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SCREEN_COLUMNS = 80, SCREEN_LEAST_ROWS = 24, SCREEN_MOST_ROWS = 40, SCREEN_FINDINGS = 5 };

/* What fits on one screen of `rows` rows of 80 columns: time lost by class, verdicts, the top findings with advice (at most
 * SCREEN_FINDINGS, a sequence counts as one), what could not be analysed, the next command. `rows` is brought into
 * SCREEN_LEAST_ROWS .. SCREEN_MOST_ROWS; one row is left for the prompt. */
void report_screen(const struct report *report, struct site_namer *namer, unsigned rows, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
