/* SPDX-License-Identifier: Apache-2.0
 *
 * blocking-pin: allocating or registering pinned host memory took long: for its size with work pending, by itself, or so
 * that other threads stood behind it. Run by the pass for every call. Unpinning (cuMemFreeHost, cuMemHostUnregister) waits
 * for the whole context and is blocking-free's.
 */
#include "analysis/rules/alloc.h"
#include "analysis/findings/charge.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    uint64_t kind = call_word(view->call, 2);
    if (kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED)
        alloc_check(run, view);
}

static void on_held(struct rule_run *run, const struct call_view *view)
{
    if (view->held_by->kind == HOLD_PIN)
        charge_held(run, view, ALLOC_HELD);
}

static const struct rule rule = {
    .id = "blocking-pin",
    .class_ = "H5",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .set_up = true,
    .at_call = true,
    .title = "pinning host memory kept threads waiting",
    .sentence = "cuMemHostAlloc, cuMemAllocHost and cuMemHostRegister lock every page down, under the driver's lock: the "
                "larger, the longer, and other threads' calls wait meanwhile.",
    .advice = "Pin once, before the work starts, in pieces that are reused; huge pages make it faster.",
    .details = alloc_cases,
    .bad = "1@0 launch s=N1 k=first\n"
           "1@1+4 sync s=N1\n"
           "1@10+40000 alloc-host ptr=0x7f0000000000 bytes=30000000\n"
           "1@50000 launch s=N1 k=long\n"
           "1@50010+5000 register ptr=0x7e0000000000 bytes=4096\n",
    .good = "1@0+40000 alloc-host ptr=0x7f8000000000 bytes=30000000\n" /* before the first kernel */
            "1@40100 launch s=N1 k=first\n"
            "1@40101+4 sync s=N1\n"
            "1@41000+60 alloc-host ptr=0x7f0000000000 bytes=65536\n"
            "1@42000 launch s=N1 k=long\n"
            "1@42010+600 alloc-host ptr=0x7f0000100000 bytes=1000000\n"
            "1@42700+70 register ptr=0x7e0000000000 bytes=4096\n"
            "1@43000+900 sync s=N1\n",
    .ops = RULE_OP(PTDS_OP_ALLOC),
    .on_call = on_call,
    .on_held = on_held,
};
PTDS_RULE(rule);
