/* SPDX-License-Identifier: Apache-2.0
 *
 * blocking-alloc: allocating device memory took long, for its size: with work pending, without, or so that other threads
 * stood behind it. Run by the pass for every call. Measured drivers do not wait for work when they allocate, so a long call
 * is said to have been long, not to have waited.
 */
#include "analysis/rules/alloc.h"
#include "analysis/findings/charge.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    uint64_t kind = call_word(view->call, 2);
    if (kind != PTDS_MEMORY_PINNED && kind != PTDS_MEMORY_REGISTERED)
        alloc_check(run, view);
}

static void on_held(struct rule_run *run, const struct call_view *view)
{
    if (view->held_by->kind == HOLD_ALLOC)
        charge_held(run, view, ALLOC_HELD);
}

static const struct rule rule = {
    .id = "blocking-alloc",
    .class_ = "H5",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .set_up = true,
    .at_call = true,
    .title = "allocating device memory kept threads waiting",
    .sentence = "cuMemAlloc maps memory under the driver's lock; large or first allocations take milliseconds, and other "
                "threads' calls wait meanwhile.",
    .advice = "Allocate before the work starts and reuse, or use cuMemAllocAsync with a pool that keeps its memory "
              "(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).",
    .details = alloc_cases,
    .bad = "1@0 launch s=N1 k=long\n"
           "1@10+5000 alloc ptr=0x10000 bytes=4096\n",
    .good = "1@0+30000 alloc ptr=0x200000 bytes=1000000000\n" /* before the first kernel */
            "1@31000 launch s=N1 k=first\n"
            "1@31001+4 sync s=N1\n"
            "1@36000+60 alloc ptr=0x10000 bytes=4096\n"
            "1@37000 launch s=N1 k=long\n"
            "1@37010+90 alloc ptr=0x20000 bytes=4096\n"
            "1@38000+900 sync s=N1\n"
            "1@39000+3000 alloc ptr=0x100000 bytes=1000000000\n",
    .ops = RULE_OP(PTDS_OP_ALLOC),
    .on_call = on_call,
    .on_held = on_held,
};
PTDS_RULE(rule);
