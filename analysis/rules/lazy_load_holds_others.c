/* SPDX-License-Identifier: Apache-2.0
 *
 * lazy-load-holds-others: calls of other threads stood behind one that loaded code. Run by the pass for each call that was
 * held up (hold.h says which are). What the loading thread itself lost is blocking-module-load's.
 */
#include "analysis/findings/charge.h"

static void on_held(struct rule_run *run, const struct call_view *view)
{
    if (view->held_by->kind == HOLD_LOAD)
        charge_held(run, view, 0);
}

static const struct rule rule = {
    .id = "lazy-load-holds-others",
    .class_ = "H8",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .title = "loading code held up other threads",
    .sentence = "While a module or a kernel is loaded the driver holds its lock: calls of other threads wait, whatever "
                "stream they are for.",
    .advice = "Load before threads start (one launch of each kernel will do), or set CUDA_MODULE_LOADING=EAGER.",
    .bad = "2@0+4 copy s=N1 from=device to=pinned bytes=4\n"
           "2@10+4 copy s=N1 from=device to=pinned bytes=4\n"
           "2@20+4 sync s=N1\n"
           "1@100+30000 module-load\n"
           "2@200+29903 copy s=N1 from=device to=pinned bytes=4\n",
    .good = "2@0+4 copy s=N1 from=device to=pinned bytes=4\n"
            "2@20+4 sync s=N1\n"
            "1@100+30000 module-load\n"
            "2@200+4 copy s=N1 from=device to=pinned bytes=4\n"
            "2@210+900 sync s=N1\n"
            "2@40000+9000 copy s=N1 from=device to=pinned bytes=4\n"
            "2@50000+900 sync s=N1\n",
    .on_held = on_held,
};
PTDS_RULE(rule);
