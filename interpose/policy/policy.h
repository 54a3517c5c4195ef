/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stream does a call belong on? A policy is one file: a name, a sentence, and a few callbacks. Callbacks that
 * call the driver keep errno.
 */
#ifndef PTDS_POLICY_H
#define PTDS_POLICY_H

#include "interpose/env/env.h"
#include "interpose/state/call.h"

struct policy {
    const char *name;
    const char *sentence; /* what it does, for ptds --help and the docs */
    const char *gives_up; /* what order a program loses; "nothing" where it loses none */
    int remaps;

    /* Legacy work with no reason to keep it: chooses C->target and, for implicit calls, C->way. Leaving both as they are
     * keeps the call on the legacy stream; then it says why in C->flags. */
    void (*legacy)(struct call *C, int implicit);
    /* Work on a stream that the program created, C->stream. NULL: nothing to do. */
    void (*created)(struct call *C);
    /* A context has become current outside any capture: time to make streams. NULL: nothing to do. */
    void (*context)(struct call *C, struct context *context);
    /* The program is about to destroy a stream. NULL: nothing to do. */
    void (*stream_gone)(CUstream stream);
    int wants_footprint; /* 1: needs to know before the call what the call touches */
    int quick;           /* default-stream work goes to the thread's one lane, whatever it is */
    int orders_all;      /* 1: the guard orders conflicts that neither legacy nor the program orders, too */
    int guards; /* 1: the guard keeps legacy order, and sees all work, also what stays or names a stream of the program's */
};

#define POLICY(identifier, word, then) extern const struct policy policy_##identifier;
#include "interpose/env/policies.def"

/* What the configuration says about routing, in one place that a hot path can read. Constant after policy_choose(). */
struct routing {
    const struct policy *policy;
    uint8_t remap_explicit; /* PTDS_EXPLICIT_LEGACY=remap */
    uint8_t filter;         /* PTDS_EXCLUDE or PTDS_INCLUDE is set */
    uint8_t quick;          /* work on stream 0 may go the guard's short way (guard/again.h) */
};
extern struct routing routing;

/* Reads the configuration; before the first wrapper goes on. Any thread, repeatable. */
void policy_choose(void);

/* Before the program initialises the driver. */
void policy_at_init(void);

/* The configured one. Constant. */
static inline const struct policy *policy_current(void)
{
    return routing.policy;
}

/* The routing column of api.def: what to pass on instead of the stream that the program named. */
CUstream policy_route(struct call *C, CUstream named);

/* The same for a function that refuses the legacy stream, and for one whose stream is implicit. */
CUstream policy_route_keep(struct call *C, CUstream named);
void policy_route_implicit(struct call *C);

/* A function that always uses the legacy stream and has no other form. */
void policy_route_legacy(struct call *C);

/* After cuStreamSetAttribute on the default stream: the streams that stand for it get it, too. */
void policy_attribute_set(struct call *C, CUstreamAttrID attribute, const CUstreamAttrValue *value);
void policy_attributes_copied(struct call *C, CUstream to, CUstream from);

#endif
