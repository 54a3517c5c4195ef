/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of one shape are the same for the choice of rules and for the report's totals: both are worked out once a shape,
 * and the calls counted. For pass_over_calls.c; a trace has few shapes, so looking one up is all that most calls cost.
 */
#ifndef PTDS_ANALYSIS_REPORT_PASS_SHAPES_H
#define PTDS_ANALYSIS_REPORT_PASS_SHAPES_H

#include "analysis/report/report.h"

enum { SHAPES_BITS = 8 };

struct shape {
    uint64_t key;   /* 0: none */
    uint64_t rules; /* that such a call may concern, whatever else is going on */
    uint64_t count; /* not yet in the totals */
    uint32_t flags; /* enum ptds_call_flags */
    bool is_default, failed, gpu_work, unknown_stream;
    uint8_t touches_all;    /* enum ptds_opaque */
    bool opaque, of_kernel; /* may touch memory unseen; or so may its kernel, of which a shape knows nothing */
};

/* The shapes that were seen lately. */
struct shapes {
    struct shape at[1 << SHAPES_BITS];
};

/* The key of a shape: everything that the shape depends on, of kinds only the known ones. Calls that are alike
 * (call_view.alike) have a shorter key. */
static inline uint64_t shapes_key(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t asked = view->asked_kind < 15 ? view->asked_kind : 15,
             target = view->target_kind < 15 ? view->target_kind : 15;
    uint64_t bits = (uint64_t)view->work | (uint64_t)view->submits << 1 | (uint64_t)view->succeeded << 2 |
                    (uint64_t)(view->target != MODEL_NO_SLOT) << 3;
    return call->flags | (uint64_t)call->op << 32 | asked << 40 | target << 44 | bits << 48 | UINT64_C(1) << 63;
}

/* Works out a new shape in this place, after adding the calls of the old one to the totals. */
void shapes_begin(struct shape *shape, uint64_t key, struct report *report, const struct call_view *view);

/* The shape of the call, valid until the next call. The caller adds the call to `count` if the report is about it. */
static inline struct shape *shapes_of(struct shapes *shapes, struct report *report, const struct call_view *view)
{
    uint64_t key = view->alike != 0 ? view->alike : shapes_key(view);
    struct shape *shape = &shapes->at[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHAPES_BITS)];
    if (shape->key != key)
        shapes_begin(shape, key, report, view);
    return shape;
}

/* After the last call: adds the counted calls to the totals. */
void shapes_end(struct shapes *shapes, struct report *report);

#endif
