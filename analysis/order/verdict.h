/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict engine: finds the implicit edges of a trace (edge.h) and says of each whether the program needs it. Fed every
 * call in merged order, between model_enter and model_leave, by the report builder and by tests.
 *
 * Works on the streams as the program named them, so that a trace says the same under every policy. Two orders are
 * compared:
 *   - the explicit one (ORDER_EXPLICIT of model/implicit_order.h): each thread's legacy work is a stream of its own; events
 * by generation; host waits that were asked for by name, and those that no policy changes, for a free or a context;
 *   - the full one: that, and what legacy order adds (ORDER_LEGACY).
 * What this run's policy kept of the difference is kept.c's question.
 *
 * A wait that has returned orders every later call of every thread: hand-over between threads by mutex cannot be seen, so
 * it is taken for granted, and an edge is never called needed for want of a mutex. A kernel reaches memory by its
 * arguments only, unless the trace or the kernel's signature says otherwise.
 *
 * Memory goes with live streams, allocations, and with edges and accesses that something may still depend on.
 */
#ifndef PTDS_ANALYSIS_ORDER_VERDICT_H
#define PTDS_ANALYSIS_ORDER_VERDICT_H

#include "analysis/order/edge.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct verdicts;

/* The sink gets each edge when it is settled, the last ones from verdicts_end. The model, which has not begun yet, and the
 * sink must outlive the engine. NULL without memory. */
struct verdicts *verdicts_begin(struct model *model, struct edge_sink *sink);

/* Two operations that conflict, or may, which legacy order puts in order and explicit order does not. */
enum conflict_at {
    CONFLICT_ON_STREAM, /* the second is an operation of a stream */
    CONFLICT_ON_HOST,   /* the second is the host, which acts in the call: it frees or unmaps the memory */
    CONFLICT_AFTER_WAIT /* the second is the host, as soon as the call has returned, which waits for the first */
};
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
/* One end of an edge or a pair, as they have it of this call. */
struct edge_end verdicts_end_of(const struct call_view *view);

/* Before the first call: tell the sink all of them, which takes longer. */
void verdicts_tell_conflicts(struct verdicts *verdicts, struct conflict_sink *sink);

/* What is wrong with a call; NULL: nothing. */
struct verdicts_found {
    const struct edge_pair *unordered; /* a pair of which it is the second, that conflicts and that nothing orders */
    const struct edge_end *given_up;   /* work that it came after by the legacy stream's order, and under this run's policy
                                          does not any more; of several the first */
    const struct edge_pair *overtaken; /* it is a copy from pinned memory: what writes its source, with nothing but implicit
                                          order between the two, which does not keep small copies back */
};

/* The next call. `gap`: records are missing between the calls so far and some call still to come (merge_in_gap). Valid
 * until the next call; NULL, which it mostly is: nothing is wrong. */
const struct verdicts_found *verdicts_take(struct verdicts *verdicts, const struct call_view *view, bool gap);

/* The allocation alive that holds an address, as of the calls taken so far; false if none is known to. `verdicts` may be
 * NULL. */
struct verdict_memory {
    uint64_t base;
    uint32_t kind; /* enum ptds_memory_kind */
};
bool verdicts_memory(struct verdicts *verdicts, uint64_t address, struct verdict_memory *out);
/* Whether every allocation seen is followed, so that an address in none is in none that the trace shows. */
bool verdicts_memory_complete(const struct verdicts *verdicts);

/* For whoever waits until a launch uses one of some allocations, by their bases: each belongs to one of these groups. Costs
 * nothing as long as there are none, and little then. */
enum { VERDICT_GROUPS = 24 };
void verdicts_watch(struct verdicts *verdicts, uint64_t base, unsigned group);
void verdicts_unwatch_all(struct verdicts *verdicts);
/* A bit for each group of which the launch taken last may use any; who has none uses none that was found by its base. */
uint32_t verdicts_watched(const struct verdicts *verdicts);

/* For tests: forget what can be forgotten after every call, not only when much is open. */
void verdicts_sweep_always(struct verdicts *verdicts);
/* For tests: look at so many accesses at once, and find out of more which have to be looked at. */
void verdicts_look_at(struct verdicts *verdicts, unsigned few);
/* For tests, before the first call: what is kept of calls in a row of fixed length begins anew after so many. */
void verdicts_begin_anew_after(struct verdicts *verdicts, unsigned calls);

/* Settles what is open and frees the engine. Accepts NULL. */
void verdicts_end(struct verdicts *verdicts, struct verdict_totals *totals);

#ifdef __cplusplus
}
#endif
#endif
