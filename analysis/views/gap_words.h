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

/* What could not be analysed, one line a reason. Returns how many lines were passed to `each`. */
unsigned gap_words(const struct report *report, void (*each)(void *data, const char *line), void *data);

/* What went past the shim, so that nobody knows how much: functions that it does not know, objects that reach the driver
 * otherwise; and who else is in front of the driver. As gap_words. `each` NULL: how many went past, without the last. */
unsigned gap_words_past(const struct report *report, void (*each)(void *data, const char *line), void *data);

#ifdef __cplusplus
}
#endif
#endif
