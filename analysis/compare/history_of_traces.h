/* SPDX-License-Identifier: Apache-2.0
 *
 * The runs that traces show, as a history.
 */
#ifndef PTDS_ANALYSIS_COMPARE_HISTORY_OF_TRACES_H
#define PTDS_ANALYSIS_COMPARE_HISTORY_OF_TRACES_H

#include "analysis/compare/history.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the runs. Traces are of one run where their processes ran at the same time, or one after the other as different
 * programs; else each is a run. namer may be NULL: then nothing has a name. False without memory. */
bool history_of_traces(struct history *history, const struct traces *traces, struct site_namer *namer);

#ifdef __cplusplus
}
#endif
#endif
