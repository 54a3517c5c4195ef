/* SPDX-License-Identifier: Apache-2.0
 *
 * The runs that traces show, as a history.
 */
#ifndef PTDS_ANALYSIS_COMPARE_OBSERVE_H
#define PTDS_ANALYSIS_COMPARE_OBSERVE_H

#include "analysis/compare/history.h"
#include "analysis/report/traces.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the runs. Traces are of one run where their processes ran at the same time, or one after the other as different
 * programs; else each is a run. namer may be NULL: then nothing has a name. False without memory. */
bool history_observe(struct history *history, const struct traces *traces, struct site_namer *namer);

/* The same, told: run[i] is the number of the run that traces->list.items[i] belongs to, from 0 on, in order of time. How
 * many runs. */
size_t runs_of(const struct traces *traces, size_t *run);

#ifdef __cplusplus
}
#endif
#endif
