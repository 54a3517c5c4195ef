/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings that belong together because removing one wait only exposes the next. Two findings are one sequence if, in more
 * than half of the first one's blocked calls, the thread's next blocked call belonged to the second one and began sooner
 * after the first had returned than the first one's wait had lasted: without the first wait, the second would have been
 * longer by nearly as much.
 */
#ifndef PTDS_ANALYSIS_FOLD_H
#define PTDS_ANALYSIS_FOLD_H

#include "analysis/model.h"
#include "analysis/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FOLD_PAIRS = 65536 };

struct fold_thread {
    uint64_t left, lost_ns; /* of its last blocked call */
    uint32_t serial;
};

struct fold_pair {
    uint32_t first, second; /* serials */
    uint64_t count;
};

struct folds {
    TABLE_OF(struct fold_thread) threads;
    struct id_map thread_at;
    TABLE_OF(struct fold_pair) pairs;
    struct id_map pair_at;
    TABLE_OF(uint64_t) blocked; /* calls by serial */
    TABLE_OF(uint32_t) leader;  /* by serial, after fold_decide; a serial that leads itself alone is in no sequence */
};

/* A call that some finding stands for; serials are numbered from 1. Calls that did not block say nothing here. */
void fold_call(struct folds *folds, const struct trace *trace, const struct call_view *view, uint32_t serial);

/* After the last call. */
void fold_decide(struct folds *folds);

/* The same number for all findings of a sequence; 0 for serial 0 and for those that the fold never saw. */
uint32_t fold_leader(const struct folds *folds, uint32_t serial);

void folds_free(struct folds *folds);

#ifdef __cplusplus
}
#endif
#endif
