/* SPDX-License-Identifier: Apache-2.0
 *
 * What still serialises in a run whose default-stream work was moved: the time that threads were blocked, by why they
 * waited, and with which policy each part of that would go.
 */
#ifndef PTDS_ANALYSIS_REPORT_RESIDUAL_H
#define PTDS_ANALYSIS_REPORT_RESIDUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/findings/removed_by_policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

enum residual_kind {
    RESIDUAL_OWN,     /* for work that the call names: the thread's own, a stream's, an event's */
    RESIDUAL_CONTEXT, /* for all work of the context, which such a call always does */
    RESIDUAL_HELD,    /* for another thread's call, inside the driver */
    RESIDUAL_DATA,    /* for an order that the shim keeps since data asks for it */
    RESIDUAL_MIXED,   /* for work that it names, and for other work, too; which of them ended last nobody recorded */
    RESIDUAL_SHARED,  /* for other threads' work, on the stream that they share under this policy */
    RESIDUAL_LEGACY,  /* by the driver's implicit order with the legacy stream, which some work is still on */
    RESIDUAL_KINDS
};

struct residual_part {
    uint64_t ns, calls;
    struct removed_set removed_by; /* what its calls answer, a bit for each */
    uint64_t most_ns;              /* at the call site that it cost most */
    uint32_t stack, api;
};

struct residual {
    bool known; /* of a remapped run as a whole, with times; then the parts add up to totals.blocked_ns */
    struct residual_part part[RESIDUAL_KINDS];
};

/* Under which policies waits of this kind would be gone: as the findings of such waits say
 * (findings/removed_by_policy.h), but by the orders of the whole run. */
struct removed_question residual_goes(const struct report *report, enum residual_kind kind);

/* Reads the trace once more and fills in report->residual. 0; -1 without memory: `known` is then false. */
int residual_find(struct report *report);

#ifdef __cplusplus
}
#endif
#endif
