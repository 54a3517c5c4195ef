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
 * What the run's policy kept of the difference says strands/order_loss.c.
 *
 * A wait that has returned orders every later call of every thread: hand-over between threads by mutex cannot be seen, so
 * it is taken for granted, and an edge is never called needed for want of a mutex. A kernel reaches memory by its
 * arguments only, unless the trace or the kernel's signature says otherwise.
 *
 * Memory goes with live streams and allocations, and with edges and accesses that a later call may still ask for.
 */
#ifndef PTDS_ANALYSIS_ORDER_VERDICT_H
#define PTDS_ANALYSIS_ORDER_VERDICT_H

#include "analysis/order/engine/conflict.h"
#include "analysis/order/engine/edge.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct verdicts;

/* Before the model's first call. The sink gets each edge when it is settled, the last ones from verdicts_end. Model and
 * sink must outlive the engine. NULL without memory. End with verdicts_end. */
struct verdicts *verdicts_begin(struct model *model, struct edge_sink *sink);

/* The call as one end of an edge or a pair. */
struct edge_end verdicts_end_of(const struct call_view *view);

/* Before the first call: the sink is told every conflict that implicit order alone orders. The pass takes longer then. */
void verdicts_tell_conflicts(struct verdicts *verdicts, struct conflict_sink *sink);

/* The next call. `gap`: records are missing between the calls so far and some call still to come (merge_in_gap). Valid
 * until the next call; NULL, which it mostly is: nothing is wrong. */
const struct verdicts_found *verdicts_take(struct verdicts *verdicts, const struct call_view *view, bool gap);

/* For tests: sweep after every call. */
void verdicts_sweep_always(struct verdicts *verdicts);
/* For tests: examine so many accesses without asking first whether any of them matters (8 otherwise). */
void verdicts_look_at(struct verdicts *verdicts, unsigned few);
/* For tests, before the first call: the table of the last calls begins anew after so many calls. */
void verdicts_begin_anew_after(struct verdicts *verdicts, unsigned calls);

/* Settles what is open and frees the engine. Accepts NULL. */
void verdicts_end(struct verdicts *verdicts, struct verdict_totals *totals);

#ifdef __cplusplus
}
#endif
#endif
