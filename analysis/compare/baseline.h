/* SPDX-License-Identifier: Apache-2.0
 *
 * A baseline's file: a history as JSON, one line a row, so that a change of it can be read in a review.
 */
#ifndef PTDS_ANALYSIS_COMPARE_BASELINE_H
#define PTDS_ANALYSIS_COMPARE_BASELINE_H

#include <stdio.h>

#include "analysis/compare/history.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BASELINE_VERSION = 1, BASELINE_RUNS_MOST = 32, COMPARE_ERROR_SIZE = 512 };

/* Reads the file. False with a message of one line in `error` (COMPARE_ERROR_SIZE), which names the file and says what
 * to do; the history is then empty. */
bool baseline_read(struct history *history, const char *path, char *error);
/* Writes the history. False: not all of it could be written. */
bool baseline_write(const struct history *history, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
