/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of one row over several runs. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_LEVEL_H
#define PTDS_ANALYSIS_COMPARE_LEVEL_H

#include "analysis/compare/compare.h"

/* The level of a row, which may be NULL, over the runs of its history. */
struct level level_of_calls(const struct history *history, const struct row *row, bool per_process);
struct level level_of_ns(const struct history *history, const struct row *row, bool per_process);
/* The level of a row of kind ROW_GPU, over the runs with such times alone; `known` counts these, whether the row is in
 * them or not. */
struct level level_of_gpu_row(const struct history *history, const struct row *row, bool per_process, bool times);
struct level level_of_runs(const struct history *history);
struct level level_of_gpu(const struct history *history, enum gpu_measure measure, bool per_process);
/* The level of all calls of a driver function and kernel, from wherever. */
struct level level_of_group(const struct history *history, const struct row_key *key, bool per_process);

/* By how much counts are above all that the runs before had, or below; 0: not by more than the runs after differ among
 * themselves. Runs before may be of several levels, each of which was accepted: the nearest one counts, never their spread.
 */
double level_counts_gained(const struct level *before, const struct level *after);
double level_counts_lost(const struct level *before, const struct level *after);
/* Whether times of `two` are above those of `one` by more than a share of it, than `least`, and than the runs differ among
 * themselves. They have outliers: most of one must be below most of the other. */
bool level_times_above(const struct level *one, const struct level *two, double growth, double least);

#endif
