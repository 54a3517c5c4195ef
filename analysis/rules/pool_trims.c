/* SPDX-License-Identifier: Apache-2.0
 *
 * pool-trims: stream-ordered memory of a pool that keeps nothing: at each wait the driver gives what was freed back to the
 * system, and the next allocation gets it anew. Run by the pass for stream-ordered allocations and frees, for waits, and
 * for calls that set up pools. What it costs no trace says: it is in the time of the waits and of the allocations, which
 * are not timed. A program that sets an attribute of any pool, or makes one, is taken to know, and nothing is said.
 */
#include <string.h>

#include "analysis/findings/rule.h"

enum { LEAST_ROUNDS = 16 };

struct state {
    bool freed, waited; /* something was freed and then waited for, since the last allocation */
    bool set;           /* the program set an attribute of a pool, or made a pool */
};

static bool is_named(const struct call_view *view, const char *name)
{
    return view->api != NULL && view->api->text != NULL && strcmp(view->api->text, name) == 0;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    unsigned op = view->call->r.op;
    if (op == PTDS_OP_NONE || op == PTDS_OP_CONFIG) {
        state->set |= view->succeeded && (is_named(view, "cuMemPoolSetAttribute") || is_named(view, "cuMemPoolCreate"));
    } else if (op == PTDS_OP_FREE_ASYNC) {
        state->freed |= view->work;
    } else if (op == PTDS_OP_ALLOC_ASYNC) {
        if (view->work && state->waited)
            finding_cost_unknown(finding_at(&run->findings, run->rule, view, 0));
        state->freed = state->waited = false;
    } else {
        state->waited |= state->freed && view->completes;
    }
}

static bool is_often(const struct finding *finding)
{
    return finding->count >= LEAST_ROUNDS;
}

static void end(struct rule_run *run)
{
    const struct state *state = run->state;
    if (state->set)
        finding_drop_all(&run->findings);
    finding_keep_only(&run->findings, is_often);
}

#define TEN(x) x x x x x x x x x x
#define ROUND \
    "1@10 alloc-async s=N1 ptr=0x10000 bytes=4096\n1@10 launch s=N1 k=a\n1@10 free-async s=N1 ptr=0x10000\n" \
    "1@10 sync s=N1\n"
#define TWENTY TEN(ROUND) TEN(ROUND)

static const struct rule rule = {
    .id = "pool-trims",
    .class_ = "H5",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "a memory pool that keeps nothing",
    .sentence = "The pool's release threshold is 0, as by default: a wait gives freed memory back to the system, and the "
                "allocation behind it gets memory anew.",
    .advice = "Raise CU_MEMPOOL_ATTR_RELEASE_THRESHOLD of the pool (cudaMemPoolSetAttribute), once.",
    .bad = TWENTY,
    .good = "1@0 config api=cuMemPoolSetAttribute\n" TWENTY,
    .ops = RULE_OP(PTDS_OP_NONE) | RULE_OP(PTDS_OP_CONFIG) | RULE_OP(PTDS_OP_ALLOC_ASYNC) | RULE_OP(PTDS_OP_FREE_ASYNC) |
           RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_EVENT_SYNC) | RULE_OP(PTDS_OP_CTX_SYNC),
    .state = sizeof(struct state),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
