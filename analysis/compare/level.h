/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of one row over several runs. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_LEVEL_H
#define PTDS_ANALYSIS_COMPARE_LEVEL_H

#include "analysis/compare/compare.h"

/* Of a row, which may be NULL, in the runs of its history. */
struct level level_of_calls(const struct history *history, const struct row *row, bool per_process);
struct level level_of_ns(const struct history *history, const struct row *row, bool per_process);
/* Of ROW_GPU: of the runs that have such times alone, and these are `known`, whether the row is in them or not. */
struct level level_of_gpu_row(const struct history *history, const struct row *row, bool per_process, bool times);
struct level level_of_runs(const struct history *history);
struct level level_of_gpu(const struct history *history, enum gpu_measure measure, bool per_process);
/* Of all calls of a driver function and kernel, wherever from. */
struct level level_of_group(const struct history *history, const struct row_key *key, bool per_process);

/* Whether `two` is above `one` by more than a share of it, than `least`, and than the runs differ among themselves. Counts
 * hardly do, so all runs of the first must be below; of times, which have outliers, most of one below most of the other. */
bool level_counts_above(const struct level *one, const struct level *two, double growth, double least);
bool level_times_above(const struct level *one, const struct level *two, double growth, double least);

#endif
