/* SPDX-License-Identifier: Apache-2.0
 *
 * Which traces are processes of one run.
 */
#ifndef PTDS_ANALYSIS_COMPARE_RUNS_H
#define PTDS_ANALYSIS_COMPARE_RUNS_H

#include <stddef.h>

#include "analysis/report/many/traces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in run[i]: the number of the run that traces->list.items[i] belongs to, from 0 on, in order of time. Returns
 * how many runs there are. */
size_t runs_of(const struct traces *traces, size_t *run);

#ifdef __cplusplus
}
#endif
#endif
