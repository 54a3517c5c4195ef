/* SPDX-License-Identifier: Apache-2.0
 *
 * A second pass over the calls, without the rules. Called by exports and by `ptds check`. Keeps nothing of a call.
 */
#include "analysis/report/walk_calls.h"

#include "analysis/trace/merge.h"

enum { PROGRESS_CALLS = 1 << 12 };

static void tell(const struct report *report, uint64_t done)
{
    if (report->walks != NULL && report->walks->progress != NULL)
        report->walks->progress(report->walks, done, report->trace.calls);
}

int walk_calls(const struct report *report, struct walker *walker)
{
    struct model model;
    struct merge merge;
    const struct call *call;
    struct call_view view;
    uint64_t done = 0;
    int status = merge_begin(&merge, &report->trace);
    model_begin(&model, &report->trace);
    if (status == 0 && walker->begin != NULL && !walker->begin(walker, &model))
        status = -1;
    while (status == 0 && (call = merge_next(&merge)) != NULL) {
        if (!model_enter(&model, call, &view)) {
            status = -1;
            break;
        }
        walker->gap = merge_in_gap(&merge);
        walker->call(walker, &model, &view);
        model_leave(&model, &view);
        if (walker->after != NULL)
            walker->after(walker, &model, &view);
        if (++done % PROGRESS_CALLS == 0)
            tell(report, done);
    }
    if (walker->end != NULL)
        walker->end(walker);
    model_end(&model);
    merge_end(&merge);
    tell(report, report->trace.calls);
    return status;
}
