/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verdict engine tells beside edges: conflicts, one by one, and what is wrong with a call. For verdict.h and for
 * the engine's files.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_CONFLICT_H
#define PTDS_ANALYSIS_ORDER_ENGINE_CONFLICT_H

#include "analysis/order/engine/edge.h"

#ifdef __cplusplus
extern "C" {
#endif

enum conflict_at {
    CONFLICT_ON_STREAM, /* the second is an operation of a stream */
    CONFLICT_ON_HOST,   /* the second is the host, which acts in the call: it frees or unmaps the memory */
    CONFLICT_AFTER_WAIT /* the second is the host, as soon as the call has returned, which waits for the first */
};

/* Two operations that conflict, or may, which legacy order puts in order and explicit order does not. */
struct verdict_conflict {
    uint64_t first, second; /* calls, by call_view.number */
    uint64_t ticks;         /* AFTER_WAIT: when the wait returned */
    enum conflict_at at;
    enum verdict verdict;       /* needed or maybe needed */
    enum verdict_reason reason; /* of maybe needed */
    struct edge_pair pair;
};

struct conflict_sink {
    /* Of a call's conflicts any order; calls rise, but that waits come when they have returned. Of a stream's operations
     * that conflict with a later one in the same way only the last is told; of what comes after the second on its stream
     * nothing is told that comes after the first by that. */
    void (*conflict)(struct conflict_sink *sink, const struct verdict_conflict *conflict);
};

/* What is wrong with a call. */
struct verdicts_found {
    const struct edge_pair *unordered; /* the call is the second of this pair, which conflicts; nothing orders the pair */
    const struct edge_end *given_up; /* the call came after this operation by the legacy stream's order, and under the run's
                                        policy does not; of several operations the first */
    const struct edge_pair *overtaken; /* the call is a copy from pinned memory: the pair's first writes its source, and
                                          nothing but implicit order, which keeps no small copy back, orders the two */
};

#ifdef __cplusplus
}
#endif
#endif
