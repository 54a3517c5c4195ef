/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations that a page draws, collected while a report is built. Memory is bounded: of a trace with more operations
 * than wanted, the stretch of consecutive ones that lost the most host time is kept, and how much that is is known.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_TIMELINE_H
#define PTDS_ANALYSIS_VIEWS_HTML_TIMELINE_H

#include "analysis/report/edges/edge_feed.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TIMELINE_MOST = 1000000, TIMELINE_BLOCKS = 8 };

struct timeline_op {
    uint64_t enter, ns, lost_ns;   /* enter: ticks */
    uint64_t ran_after_ns, ran_ns; /* on the GPU: from how long after enter on; ran_after_ns TIMELINE_NOT_RAN: unknown */
    uint32_t thread, stream, target, stack, object, serial;
    uint16_t api, flags; /* enum timeline_flags */
    uint8_t op;
};

#define TIMELINE_NOT_RAN UINT64_MAX

enum timeline_flags {
    TIMELINE_TWIN = 1,
    TIMELINE_FAILED = 2,
    TIMELINE_LEGACY = 4, /* the program named the default stream */
    TIMELINE_REMAPPED = 8,
    TIMELINE_TIMED = 16,
    TIMELINE_CAPTURED = 32, /* went into a capture: ran nowhere */
    TIMELINE_WORK = 64,     /* belongs on a stream's row */
    TIMELINE_GPU = 128,     /* the GPU ran it, so that there may be a time for that */
    TIMELINE_BEHIND = 256   /* it waited because of the default stream (gain.h) */
};

/* A block is shared by the stretch being read and the best one so far. */
struct timeline_block {
    struct timeline_op *ops;
    uint32_t count, users;
    uint64_t lost_ns;
};

struct timeline {
    struct report_watch watch; /* first; `progress` is the caller's */
    struct timeline_block *now[TIMELINE_BLOCKS], *best[TIMELINE_BLOCKS];
    uint32_t now_count, best_count, block_ops;
    uint64_t best_lost;
    uint64_t seen; /* operations there were */
    bool out_of_memory;
};

/* most: operations to keep, at least TIMELINE_BLOCKS. */
void timeline_begin(struct timeline *timeline, uint32_t most);

/* After the report was built: the kept operations are those of best[0 .. best_count-1], in order of time. */
void timeline_decide(struct timeline *timeline);
uint64_t timeline_count(const struct timeline *timeline);
const struct timeline_op *timeline_at(const struct timeline *timeline, uint64_t index);
void timeline_end(struct timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
