/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that held a lock of the driver, and calls of other threads that stood behind it. Kept by the model while such a
 * call is in flight; rules read it, and charge.h charges it. A call was held up by another one if it was entered while that
 * one was in flight, had no GPU work to wait for, took far longer than it usually does, and returned right after the other
 * did. Nothing less counts: two slow calls side by side are no proof.
 */
#ifndef PTDS_ANALYSIS_MODEL_HOLD_H
#define PTDS_ANALYSIS_MODEL_HOLD_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct model;
struct call_view;

enum hold_kind {
    HOLD_LOAD,  /* loads or unloads code */
    HOLD_ALLOC, /* allocates device memory */
    HOLD_PIN,   /* allocates or registers host memory */
    HOLD_OTHER, /* anything else that took far longer than it usually does */
};

struct hold {
    enum hold_kind kind;
    uint64_t ns;
    void *charged; /* for charge.c: the finding that the hold is charged to; NULL so far */
    struct call call;
};

enum { HOLDS_KEPT = 8 };
struct holds {
    struct hold *kept; /* HOLDS_KEPT; NULL before the first */
    uint32_t count;
};

/* For model_enter: fills in held_by and held_ns of the view. */
void hold_enter(struct model *model, struct call_view *view);
/* For model_leave: keeps the call if it may hold others up. */
void hold_leave(struct model *model, const struct call_view *view);

#ifdef __cplusplus
}
#endif
#endif
