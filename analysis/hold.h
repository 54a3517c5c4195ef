/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that held a lock of the driver, and calls of other threads that stood behind it. Kept by the model while such a
 * call is in flight; rules read it. A call was held up by another one if it was entered while that one was in flight, had
 * no GPU work to wait for, took far longer than it usually does, and returned right after the other did. Nothing less
 * counts: two slow calls side by side are no proof.
 */
#ifndef PTDS_ANALYSIS_HOLD_H
#define PTDS_ANALYSIS_HOLD_H

#include "analysis/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct model;
struct call_view;
struct rule_run;
struct finding;

enum hold_kind {
    HOLD_LOAD,  /* loads or unloads code */
    HOLD_ALLOC, /* allocates device memory */
    HOLD_PIN,   /* allocates or registers host memory */
    HOLD_OTHER, /* anything else that took far longer than it usually does */
};

struct hold {
    enum hold_kind kind;
    uint64_t ns;
    struct finding *finding; /* of the rule that reports this kind; NULL so far */
    struct call call;
};

enum { HOLDS_KEPT = 8 };
struct holds {
    struct hold *kept; /* HOLDS_KEPT; NULL before the first */
    uint32_t count;
};

/* For model_enter: held_by and held_ns. */
void hold_enter(struct model *model, struct call_view *view);
/* For model_leave: remembers the call if it may hold others up. */
void hold_leave(struct model *model, const struct call_view *view);

/* For the rule whose kind it is: charges what the call at hand lost to the call that held it up. */
void hold_charge(struct rule_run *run, const struct call_view *view, uint32_t detail);

#ifdef __cplusplus
}
#endif
#endif
