/* SPDX-License-Identifier: Apache-2.0
 *
 * What a shape of calls means: the rules that it concerns, and what its calls add to the totals. Called by
 * pass_over_calls.c when a shape is new, or has not been seen lately.
 */
#include "analysis/report/pass/shapes.h"

#include "analysis/trace/device_runs.h"

/* What can be told from the call alone, and is so for all calls of its shape. */
static unsigned cases_of(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool captures = call->op == PTDS_OP_CAPTURE_BEGIN || call->op == PTDS_OP_CAPTURE_END ||
                    (call->flags & (PTDS_CALL_CAPTURE_OPEN | PTDS_CALL_KEPT_CAPTURE));
    return (call->flags & (PTDS_CALL_LEGACY | PTDS_CALL_TWIN) ? CASE_DEFAULT : 0) |
           (call->flags & PTDS_CALL_REMAPPED ? CASE_REMAPPED : 0) | (view->work ? 0 : CASE_NO_WORK) |
           (call->flags & PTDS_CALL_SHIM_EDGE ? CASE_EDGE : 0) |
           (view->asked_kind == PTDS_STREAM_PER_THREAD ? CASE_PER_THREAD : 0) |
           (call->op == PTDS_OP_ALLOC_ASYNC || call->op == PTDS_OP_FREE_ASYNC ? CASE_POOL : 0) |
           (call->op == PTDS_OP_HOST_FUNCTION ? CASE_HOST_FUNCTION : 0) | (!view->succeeded || captures ? CASE_CAPTURE : 0);
}

static uint64_t rules_of(const struct report *report, const struct call_view *view)
{
    uint64_t rules = 0;
    for (unsigned cases = cases_of(view); cases != 0; cases &= cases - 1)
        rules |= report->by_case[__builtin_ctz(cases)];
    return rules;
}

static enum kept_reason kept_reason(uint32_t flags)
{
    return flags & PTDS_CALL_KEPT_CAPTURE    ? KEPT_CAPTURE
           : flags & PTDS_CALL_KEPT_REFUSED  ? KEPT_REFUSED
           : flags & PTDS_CALL_KEPT_EXCLUDED ? KEPT_EXCLUDED
           : flags & PTDS_CALL_KEPT_NO_WAY   ? KEPT_NO_WAY
           : flags & PTDS_CALL_EXPLICIT      ? KEPT_EXPLICIT
                                             : KEPT_UNSAID;
}

static void count(struct report_totals *totals, const struct shape *shape)
{
    totals->recorded += shape->count;
    totals->gpu_operations += shape->gpu_work ? shape->count : 0;
    totals->opaque += shape->opaque ? shape->count : 0;
    if (shape->touches_all != PTDS_OPAQUE_NO)
        totals->touch_all[shape->touches_all] += shape->count;
    totals->unknown_streams += shape->unknown_stream ? shape->count : 0;
    if (!shape->is_default)
        return;
    totals->default_stream += shape->count;
    if (shape->failed)
        totals->failed_default += shape->count;
    else if (shape->flags & PTDS_CALL_REMAPPED)
        totals->remapped += shape->count;
    else
        totals->kept[kept_reason(shape->flags)] += shape->count;
}

/* Did it name the default stream, for something that a stream does, or would have done? */
static bool is_default(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool work = call->op >= PTDS_OP_LAUNCH && call->op <= PTDS_OP_OPAQUE; /* and events: no queries */
    bool operation = view->submits || (work && !view->succeeded && view->target != MODEL_NO_SLOT);
    return operation && (call->flags & PTDS_CALL_LEGACY);
}

static bool is_opaque(const struct call_view *view)
{
    return view->work && ((view->call->r.flags & PTDS_CALL_OPAQUE) || view->call->r.op == PTDS_OP_OPAQUE);
}

/* Reasons that this version does not know are "other". */
static uint8_t touches_all(const struct call_view *view)
{
    unsigned why = (view->call->r.flags & PTDS_CALL_WHY_MASK) >> PTDS_CALL_WHY_SHIFT;
    return !view->submits ? PTDS_OPAQUE_NO : (uint8_t)(why < PTDS_OPAQUE_REASONS ? why : PTDS_OPAQUE_OTHER);
}

void shapes_begin(struct shape *shape, uint64_t key, struct report *report, const struct call_view *view)
{
    count(&report->totals, shape);
    *shape = (struct shape){.key = key,
                            .rules = rules_of(report, view),
                            .flags = view->call->r.flags,
                            .is_default = is_default(view),
                            .failed = !view->succeeded,
                            .gpu_work = view->work && device_runs_has(view->call->r.op),
                            .opaque = is_opaque(view),
                            .touches_all = touches_all(view),
                            .of_kernel = view->work && view->call->r.op == PTDS_OP_LAUNCH && !is_opaque(view),
                            .unknown_stream = view->work && view->target_kind == PTDS_STREAM_UNKNOWN};
}

void shapes_end(struct shapes *shapes, struct report *report)
{
    for (size_t i = 0; i < sizeof shapes->at / sizeof shapes->at[0]; i++)
        count(&report->totals, &shapes->at[i]);
}
