/* SPDX-License-Identifier: Apache-2.0
 *
 * Implicit order: what a call comes after, and what comes after it, though the program did not write that down. This is the
 * one place that says so: the model, the verdicts, the rules and what is said of other policies ask here.
 *
 * The driver's rule, as measured. Within a context:
 *   - work on the legacy stream comes after all earlier work of blocking and per-thread streams;
 *   - their work comes after all earlier work of the legacy stream;
 *   - non-blocking streams take no part, nor do blocking streams among each other;
 *   - a host wait for the legacy stream waits for blocking and per-thread streams, too; one for another stream waits for
 *     that stream alone; one for a context waits for all its streams.
 * A policy changes on which stream default-stream work is, and so what the rule says of it. A policy with a guard promises
 * besides that two calls which use the same memory keep legacy order.
 *
 * Explicit order (a stream's own turn, events, what a thread has waited for) is in order.h. The waits that the shim itself
 * puts there (EDGE records) are events in all but name; model_orders.c hands them to the orders "as run".
 */
#ifndef PTDS_ANALYSIS_MODEL_IMPLICIT_ORDER_H
#define PTDS_ANALYSIS_MODEL_IMPLICIT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/definitions.h"
#include "interpose/trace/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What part a stream takes in implicit order. */
enum order_role {
    ORDER_ROLE_NONE,   /* none: a non-blocking stream, and one of a kind that the trace does not tell. So an order may lack
                          something that is true, and never has something that is not. The verdicts take such a stream for
                          a blocking one, and doubt all that rests on it (order/strands/strands.c) */
    ORDER_ROLE_LEGACY, /* the legacy stream */
    ORDER_ROLE_BLOCKING, /* blocking and per-thread streams */
    ORDER_ROLES
};

/* Sets of roles. */
#define ORDER_OF(role) (1u << (role))
#define ORDER_OF_ALL (ORDER_OF(ORDER_ROLES) - 1)

/* The part of streams of this kind (enum ptds_stream_kind). */
static inline enum order_role implicit_order_role(uint32_t kind)
{
    switch (kind) {
    case PTDS_STREAM_LEGACY: return ORDER_ROLE_LEGACY;
    case PTDS_STREAM_PER_THREAD:
    case PTDS_STREAM_BLOCKING:
    case PTDS_STREAM_SHIM_BLOCKING: return ORDER_ROLE_BLOCKING;
    default: return ORDER_ROLE_NONE;
    }
}

enum order_policy {
    ORDER_AS_RUN,          /* work is where this run's policy sent it: what the GPU did */
    ORDER_AS_RUN_EXPLICIT, /* the same without implicit order, which does not hold back small copies */
    ORDER_EXPLICIT,        /* what the program wrote down: each thread's default stream is a stream of its own */
    ORDER_LEGACY,          /* what the program has without the shim, and under `none` and `observe` */
    ORDER_GUARDED,
    ORDER_PER_THREAD,
    ORDER_STREAM,
    ORDER_STREAM_NON_BLOCKING,
    ORDER_POLICIES,
    ORDER_REMAPS_EXPLICIT = 1 << 8 /* added to one of the last four: explicit uses of the legacy stream (0x1) move, too */
};

enum order_act {
    ORDER_SUBMITS,       /* puts something on its stream: work, an event's record, a wait for an event */
    ORDER_WAITS,         /* the host waits for its stream, or asks whether it is done */
    ORDER_WAITS_FOR_ALL, /* the host waits for a context */
};

/* All that implicit order depends on. */
struct order_call {
    enum order_act act;
    enum order_role named; /* the stream that the program named */
    enum order_role sent;  /* the one that this run's policy sent it to */
    bool explicitly;       /* it named the legacy stream by 0x1 */
    bool stays;            /* no policy moves it: a capture is open, the function has no other form */
};

/* On which stream of its context a call is, or which it is about. */
enum order_place {
    ORDER_AT_NAMED,      /* the one that the program named */
    ORDER_AT_SENT,       /* the one that it was sent to */
    ORDER_AT_OWN,        /* one that its thread alone has */
    ORDER_AT_PER_THREAD, /* its thread's per-thread stream (0x2) */
    ORDER_AT_SHARED      /* one that all default-stream work shares */
};

struct ordered {
    enum order_place place;
    enum order_role role; /* of the stream at that place */
    unsigned after;       /* roles: it comes after all that streams of these got before, in its context */
    unsigned before;      /* roles: what streams of these get later comes after it */
    unsigned promised;    /* roles, of streams as named: as `after`, where both use the same memory */
};

/* A pure function of its arguments. */
struct ordered implicit_order_under(unsigned policy, const struct order_call *call);

/* Whether the policy promises legacy order wherever two calls use the same memory. */
bool implicit_order_promises(unsigned policy);

/* Whether the run's policy also ordered conflicts that neither legacy nor the program orders. */
bool implicit_order_is_strict(const struct definitions *defs);

/* The policy that a run had, by its settings; ORDER_AS_RUN where they name none that is known: so had the `stream` of older
 * releases, which promised nothing and does not have the setting `guard`. */
unsigned implicit_order_policy(const struct definitions *defs);

/* Whether the run's policy promises order (implicit_order_promises). */
static inline bool implicit_order_promised(const struct definitions *defs)
{
    return implicit_order_promises(implicit_order_policy(defs));
}

#ifdef __cplusplus
}
#endif
#endif
