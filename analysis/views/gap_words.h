/* SPDX-License-Identifier: Apache-2.0
 *
 * What could not be analysed, in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_GAP_WORDS_H
#define PTDS_ANALYSIS_VIEWS_GAP_WORDS_H

#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes what could not be analysed to `each`, a line a reason. Returns the number of lines. */
unsigned gap_words(const struct report *report, void (*each)(void *data, const char *line), void *data);

/* Passes what went past the shim to `each`, so that its extent is unknown: functions that the shim does not know,
 * objects that reach the driver otherwise; and libraries in front of the driver. Returns the number of lines. `each`
 * NULL: only counts, without the libraries in front. */
unsigned gap_words_past(const struct report *report, void (*each)(void *data, const char *line), void *data);

#ifdef __cplusplus
}
#endif
#endif
