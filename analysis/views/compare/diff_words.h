/* SPDX-License-Identifier: Apache-2.0
 *
 * How two sets of runs differ, in words that all views share.
 */
#ifndef PTDS_ANALYSIS_VIEWS_COMPARE_DIFF_WORDS_H
#define PTDS_ANALYSIS_VIEWS_COMPARE_DIFF_WORDS_H

#include "analysis/base/line.h"
#include "analysis/compare/compare.h"

#ifdef __cplusplus
extern "C" {
#endif

struct diff {
    const struct comparison *comparison;
    const char *name[SIDES]; /* as they were given */
    bool all;                /* what may be chance, too, item by item */
};

/* The answer in a line: "nothing changed beyond the spread of 5 and 5 runs", "2 new, 1 gone: ...". */
struct line diff_words_answer(const struct diff *diff);
/* "73 % shorter (128.4 ms, was 475.8 ms), 1 run each"; empty: no run times. */
struct line diff_words_time(const struct diff *diff);

/* "5 runs of overlap, policy observe: 130.0 ms (121.0 ms to 140.2 ms)" */
struct line diff_words_side(const struct diff *diff, int side);

/* "default-stream work ran 20.5 ms a run on the GPU, was 10.5 ms: slower", as `ptds check` gates on it; empty: not known of
 * both sides. */
struct line diff_words_gpu(const struct diff *diff, enum gpu_measure measure);

/* The change of the measure (enum change); CHANGE_NONE where it is within floor, growth and spread. More idle time is
 * CHANGE_MORE. */
enum change diff_words_gpu_change(const struct diff *diff, enum gpu_measure measure);

/* Says which side has no times on the GPU where the other has; empty: neither lacks them alone. */
struct line diff_words_gpu_missing(const struct diff *diff);

/* Says why places are not compared; empty: they are. */
struct line diff_words_names(const struct diff *diff);

/* Says what may be chance; empty: nothing may. */
struct line diff_words_chance(const struct diff *diff);

/* Whether the change is one to show by itself. */
static inline bool diff_shows(const struct diff *diff, const struct changed *changed)
{
    return changed->change != CHANGE_NONE && (changed->sure || diff->all);
}

#ifdef __cplusplus
}
#endif
#endif
