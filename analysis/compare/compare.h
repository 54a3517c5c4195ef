/* SPDX-License-Identifier: Apache-2.0
 *
 * Two histories, row by row: what is new, gone, more or less, beyond what repetitions differ by anyway.
 *
 * How often a program calls the driver hardly differs from run to run. How long it waits does, by a factor of two on a busy
 * machine, and with it which rule a wait is a case of. So a change is `sure` where counts or repetitions prove it; else it
 * is told, and fails no check unless that was asked for.
 */
#ifndef PTDS_ANALYSIS_COMPARE_COMPARE_H
#define PTDS_ANALYSIS_COMPARE_COMPARE_H

#include "analysis/compare/history.h"
#include "analysis/report/floor.h"
#include "analysis/report/rank.h"

#ifdef __cplusplus
extern "C" {
#endif

enum change {
    CHANGE_NEW,
    CHANGE_MORE,   /* more calls */
    CHANGE_SLOWER, /* more time in them */
    CHANGE_GONE,
    CHANGE_LESS,
    CHANGE_FASTER,
    CHANGE_NONE,
    CHANGES
};
extern const char *const change_names[CHANGES]; /* of JSON, and in words */

/* The numbers of one row over the runs of a side; a run without the row counts as 0. */
struct level {
    double median, least, most;
    double low, high; /* a quarter of the runs is below, a quarter above; of fewer than 5 the least and the most */
    size_t in;        /* runs that it is in */
    size_t known;     /* of them, those that know the time */
};

enum { BEFORE, AFTER, SIDES };

/* What the GPU did, where its times are recorded: how long work of the default stream ran, in ns a run, or a process if
 * per_process; for which share of its time no work ran, in billionths. */
enum gpu_measure { GPU_DEFAULT_STREAM, GPU_IDLE, GPU_MEASURES };

struct changed {
    enum change change;
    bool sure;
    bool shown;                           /* of a finding: worth a line of its own, on the side where it is */
    const struct row *row[SIDES];         /* NULL: not there */
    struct level calls[SIDES], ns[SIDES]; /* a run, or a process if per_process */
    struct level all[SIDES];              /* of calls of a function that is new, or gone: of all functions together */
};

/* How much more is a change: growth and floor must both be passed, and the spread of the runs, too. */
struct tolerance {
    double growth;      /* 0.5: by half */
    struct floor floor; /* of times */
};
#define TOLERANCE_DEFAULT ((struct tolerance){0.5, FLOOR_DEFAULT})
enum { COMPARE_RUNS_FOR_SPREAD = 3 }; /* from so many runs on their spread says something */

struct comparison {
    struct history sides[SIDES]; /* as compared; `list` points into them */
    TABLE_OF(struct changed) list;
    size_t sure[CHANGES], unsure[CHANGES];
    struct level run_ns[SIDES];
    struct level gpu[GPU_MEASURES][SIDES]; /* known: runs that have the times */
    bool gpu_worse[GPU_MEASURES];          /* more of it, beyond floor, growth and spread; never with fewer than 3 runs */
    bool gpu_better[GPU_MEASURES];         /* less of it, likewise */
    struct tolerance tolerance;
    bool nameless[SIDES]; /* functions of this side have no names, and those of the other have */
    bool per_process;     /* the runs have not all the same number of processes */
    bool out_of_memory;
};

/* Compares two histories; they must outlive the comparison. out_of_memory says whether rows are missing. */
void compare(struct comparison *comparison, const struct history *before, const struct history *after,
             struct tolerance tolerance);
void compare_free(struct comparison *comparison);

/* The row after, or the row before where it is gone. */
static inline const struct row *changed_row(const struct changed *changed)
{
    return changed->row[AFTER] != NULL ? changed->row[AFTER] : changed->row[BEFORE];
}

/* Of calls of a function that is new, or gone: whether all functions together call as often as before. */
static inline bool changed_as_many(const struct changed *changed)
{
    const struct level *all = changed->all;
    return all[AFTER].least <= all[BEFORE].most && all[BEFORE].least <= all[AFTER].most;
}

/* Whether some runs of a side have GPU times. */
static inline bool comparison_has_gpu(const struct comparison *comparison, int side)
{
    return comparison->gpu[GPU_IDLE][side].known != 0;
}
static inline bool comparison_has_gpu_spread(const struct comparison *comparison)
{
    return comparison->gpu[GPU_IDLE][BEFORE].known >= COMPARE_RUNS_FOR_SPREAD &&
           comparison->gpu[GPU_IDLE][AFTER].known >= COMPARE_RUNS_FOR_SPREAD;
}

/* Both sides have so many runs that their spread is known. */
static inline bool comparison_has_spread(const struct comparison *comparison)
{
    return comparison->sides[BEFORE].runs.count >= COMPARE_RUNS_FOR_SPREAD &&
           comparison->sides[AFTER].runs.count >= COMPARE_RUNS_FOR_SPREAD;
}

#ifdef __cplusplus
}
#endif
#endif
