/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit orders a remap gave up: the calls whose place behind another thread's work is gone, and what the shim made
 * wait for what all the same. Filled by report/pass.c and by the rule order-given-up while the calls go by; asked for the
 * pairs that prove an edge, as they are found, and for each edge when it is settled.
 */
#ifndef PTDS_ANALYSIS_ORDER_GONE_H
#define PTDS_ANALYSIS_ORDER_GONE_H

#include "analysis/order/edge.h"
#include "analysis/trace/reader.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GONE_CALLS_MOST = 1 << 18, GONE_KEPT = 8, GONE_TARGETS = 64 };

struct gone_kept {
    uint64_t enter[GONE_KEPT],
        until[GONE_KEPT]; /* ticks: of the call that came after the wait; what was put there before */
    uint32_t count;
};

/* Uids: where a thread's default-stream work went last. */
struct gone_target {
    uint32_t thread, asked, target;
};

struct gone {
    struct id_map calls; /* by time and thread */
    bool incomplete;     /* not all of them: what is asked about counts as one */
    struct id_map kept_by;
    TABLE_OF(struct gone_kept) kept; /* by who waits for whom: the latest waits */
    struct gone_target targets[GONE_TARGETS];
};

/* The call's place behind another thread's default-stream work is gone. */
void gone_call(struct gone *gone, const struct call *call);

/* What the shim made wait before the call. */
void gone_edges(struct gone *gone, const struct call *call);

/* Default-stream work of the thread was sent to a stream of its own. */
static inline void gone_sent(struct gone *gone, const struct call *call)
{
    struct gone_target *target = &gone->targets[call->thread % GONE_TARGETS];
    if (target->thread != call->thread || target->target != call->r.target || target->asked != call->r.stream)
        *target = (struct gone_target){call->thread, call->r.stream, call->r.target};
}

/* Whether nothing that the shim put there orders the pair; as of the calls so far. */
bool gone_pair(const struct gone *gone, const struct edge_pair *pair);

/* Whether the edge is one of a call whose place is gone, and its pair is gone. */
bool gone_edge(const struct gone *gone, const struct edge *edge);

void gone_free(struct gone *gone);

#ifdef __cplusplus
}
#endif
#endif
