/* SPDX-License-Identifier: Apache-2.0
 *
 * lock-contention: a call without any GPU work to wait for took far longer than it usually does, and another thread's,
 * entered meanwhile, did so too and returned right after it. Run by the pass for each call that was held up (hold.h). Once
 * may be chance (two threads that the machine had no core for), so a call site needs two. Loading and allocating have rules
 * of their own.
 */
#include "analysis/findings/charge.h"

enum { LEAST = 2 };

static void on_held(struct rule_run *run, const struct call_view *view)
{
    if (view->held_by->kind == HOLD_OTHER)
        charge_held(run, view, 0);
}

static bool often(const struct finding *finding)
{
    return finding->known >= LEAST;
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, often);
}

static const struct rule rule = {
    .id = "lock-contention",
    .class_ = "H9",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .title = "threads waited for each other inside the driver",
    .sentence = "Calls of several threads, none with GPU work to wait for, took long together and returned one after the "
                "other: they queue for a lock of the driver.",
    .advice = "Make fewer such calls while other threads work: launch graphs, create and set nothing in a loop. Or make "
              "them all from one thread.",
    .bad = "1@0+2 copy s=N1 from=device to=pinned bytes=4\n"
           "2@10+2 memset s=N2 ptr=0x9000 to=device bytes=4\n"
           "1@100+800 copy s=N1 from=device to=pinned bytes=4\n"
           "2@150+752 memset s=N2 ptr=0x9000 to=device bytes=4\n"
           "1@1000+800 copy s=N1 from=device to=pinned bytes=4\n"
           "2@1150+652 memset s=N2 ptr=0x9000 to=device bytes=4\n",
    .good = "1@0+2 copy s=N1 from=device to=pinned bytes=4\n"
            "2@10+2 memset s=N2 ptr=0x9000 to=device bytes=4\n"
            "1@100+800 copy s=N1 from=device to=pinned ptr=0x7f0000001000 bytes=4\n"
            "2@150+400 memset s=N2 ptr=0x9000 to=device bytes=4\n"
            "1@1000+800 copy s=N1 from=device to=pinned ptr=0x7f0000002000 bytes=4\n"
            "2@1150+2 memset s=N2 ptr=0x9000 to=device bytes=4\n"
            "1@2000+20 sync s=N1\n"
            "2@2100+20 sync s=N2\n",
    .on_held = on_held,
    .end = end,
};
PTDS_RULE(rule);
