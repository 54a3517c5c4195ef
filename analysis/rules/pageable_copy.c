/* SPDX-License-Identifier: Apache-2.0
 *
 * pageable-copy: large synchronous copies of memory that is not pinned. Run by the pass for every copy. The driver stages
 * such a copy through pinned memory of its own, so it takes longer than the transfer. The cost is what the call took,
 * without what it waited for earlier work (that is sync-copy's), and less what no transfer can undercut. So it is an upper
 * bound: how fast the machine copies pinned memory no trace says, and what pinning takes is not in it.
 */
#include "analysis/findings/rule.h"

enum { LEAST_BYTES = 64 << 10, MOST_BYTES_A_NS = 64 }; /* a link of 16 lanes that is faster than any measured */

enum { TO_HOST, FROM_HOST };

static const char *const details[] = {"to pageable memory", "from pageable memory"};

static uint64_t bytes_of(const struct call *call)
{
    uint64_t width = call_word(call, 2), height = call_word(call, 3), bytes;
    return __builtin_mul_overflow(width, height != 0 ? height : 1, &bytes) ? UINT64_MAX : bytes;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool to = (call->kinds & 15) == PTDS_MEMORY_PAGEABLE, from = call->kinds >> 4 == PTDS_MEMORY_PAGEABLE;
    uint64_t bytes = bytes_of(view->call);
    if (!(call->flags & PTDS_CALL_IMPLICIT) || !view->work || to == from || bytes < LEAST_BYTES)
        return;
    uint64_t copied = view->ns - view->lost_ns, least = bytes / MOST_BYTES_A_NS;
    if (!view->timed || copied <= least)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, to ? TO_HOST : FROM_HOST);
    finding_most(finding, "largest_bytes", bytes);
    finding_count(finding, "bytes", bytes);
    finding_cost(finding, copied - least);
}

static const struct rule rule = {
    .id = "pageable-copy",
    .class_ = "H4",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_NOTE,
    .set_up = true,
    .at_call = true,
    .title = "large copies of memory that is not pinned",
    .sentence =
        "The driver copies pageable memory through pinned memory of its own, piece by piece. The time is what pinned "
        "memory would save at most.",
    .advice =
        "Keep what is copied more than once in pinned memory (cudaHostAlloc, or cudaHostRegister once). Pinning takes "
        "time, too.",
    .details = details,
    .bad = "1@0+9000 copy s=L implicit from=pageable to=device bytes=16777216\n"
           "1@9100 launch s=L k=a\n"
           "1@9200+900 sync s=L\n",
    .good = "1@0+900 copy s=L implicit from=pinned to=device bytes=16777216\n"
            "1@1000+900 copy s=L implicit from=pageable to=device bytes=4096\n"
            "1@2000+260 copy s=L implicit from=pageable to=device bytes=16777216\n", /* as fast as any */
    .ops = RULE_OP(PTDS_OP_COPY),
    .on_call = on_call,
};
PTDS_RULE(rule);
