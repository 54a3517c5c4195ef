/* SPDX-License-Identifier: Apache-2.0
 *
 * The findings of several processes as one list: those with the same id (identity.h) are one, and know which process they
 * cost how much.
 */
#ifndef PTDS_ANALYSIS_REPORT_MANY_FOLD_H
#define PTDS_ANALYSIS_REPORT_MANY_FOLD_H

#include "analysis/findings/identity.h"
#include "analysis/report/many/traces.h"

#ifdef __cplusplus
extern "C" {
#endif

struct share {
    size_t process; /* position in traces->list */
    uint64_t count, host_ns, known, unknown;
};

struct folded {
    struct finding_id id;
    const struct finding *finding; /* the gravest of them, of these the costliest, and where it is from */
    size_t process;
    bool shown;                              /* in some process it is worth a line (rank.h) */
    uint64_t count, host_ns, known, unknown; /* of all */
    bool advised;                            /* one before it has the same advice */
    uint64_t weight_ns;                      /* what it is ranked by */
    TABLE_OF(struct share) shares;           /* by process */
};

/* What the processes of a run add up to. */
struct runs {
    size_t outcomes[DOUBTS], incomplete; /* processes */
    size_t stuck, may_be_stuck;          /* of outcomes[DOUBT_NONE], those with a call that had not returned */
    size_t possible;                     /* of outcomes[DOUBT_NONE], those with possible conflicts */
    size_t little;                       /* of outcomes[DOUBT_NONE], those of which less than half was looked at */
    size_t gains, most; /* whose default stream may cost time; of these the one where it may cost the most, most_ns */
    size_t small;       /* whose default stream may cost time, though less than is worth a line */
    size_t cost_unknown;
    bool or_more; /* in some of them launches, which are not timed, may have waited besides */
    uint64_t most_ns, shortest_ns, longest_ns;
    uint64_t calls, default_stream, remapped, startup_ns;
    uint64_t threads_ns, blocked_ns; /* of the blocked_known processes of which it is known how long calls were blocked */
    size_t blocked_known;
    size_t unrecorded; /* of which no call was recorded */
};

struct folds {
    TABLE_OF(struct folded) list; /* in order, as in a report */
    uint64_t host_ns, known;      /* of all */
    struct sums sums;
    struct runs runs;
    bool out_of_memory;
};

/* Folds the findings of all traces; out_of_memory says whether some are missing. The traces must outlive the folds. */
void fold_make(struct folds *folds, const struct traces *traces);
void fold_free(struct folds *folds);

/* The spread of the host time that a finding costs over the processes where its cost is known. */
struct spread {
    uint64_t least, median, most;
    size_t most_process; /* position in traces->list */
    size_t processes;    /* 0: not known in any */
};
struct spread fold_spread(const struct folded *folded);

#ifdef __cplusplus
}
#endif
#endif
