/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks-of-one-allocation: the shim made threads' work wait for each other where it may share nothing, because a caching
 * allocator gives threads blocks of one allocation, and nobody knows how far a kernel reaches from the address that it
 * gets. PyTorch can be told to make each tensor an allocation of its own. Run by the pass for each implicit order and for
 * calls that the shim made wait; decides at the end, when it is known whether that is what most orders between threads that
 * may be needed are about. Must say nothing of a PyTorch that allocates so already: what its threads share then are parts
 * of one tensor.
 */
#include <string.h>

#include "analysis/base/text.h"
#include "analysis/findings/rule.h"
#include "analysis/trace/frames.h"

enum { LEAST = 16 };

struct state {
    uint64_t apart; /* orders between threads, of different addresses in one allocation */
    uint64_t other; /* other orders between threads that are needed, or may be */
    uint64_t waits; /* calls before which the shim made a stream wait */
    bool tensors_apart;
};

static bool begins(const struct object_def *object, const char *name)
{
    return object != NULL && object->text != NULL && strncmp(text_base(object->text), name, strlen(name)) == 0;
}

static bool is_torch(const struct object_def *object)
{
    return begins(object, "libtorch") || begins(object, "libc10");
}

static void on_edge(struct rule_run *run, const struct edge *edge)
{
    struct state *state = run->state;
    if (edge->kind == EDGE_HOST || edge->from.thread == edge->to.thread || edge->verdict == VERDICT_NOT_NEEDED)
        return;
    bool apart = edge->verdict == VERDICT_MAYBE_NEEDED && edge->reason == REASON_EXTENT;
    state->apart += apart;
    state->other += !apart;
}

/* PyTorch's other backend allocates by stream, a tensor at a time. */
static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    const struct ptds_rec_CALL *call = &view->call->r;
    state->waits += (call->flags & PTDS_CALL_SHIM_EDGE) != 0 && rule_asks_of(run, view);
    if (call->op == PTDS_OP_ALLOC_ASYNC)
        state->tensors_apart |= is_torch(frames_calling_object(&run->trace->defs, call->stack));
}

static const struct object_def *loaded_torch(const struct definitions *defs)
{
    for (size_t i = 0; i < defs->objects.count; i++)
        if (is_torch(&defs->objects.items[i]))
            return &defs->objects.items[i];
    return NULL;
}

static void end(struct rule_run *run)
{
    const struct state *state = run->state;
    const struct object_def *torch = loaded_torch(&run->trace->defs);
    bool most = state->apart >= LEAST && state->apart > state->other;
    if (torch == NULL || state->tensors_apart || state->waits < LEAST || !most)
        return;
    struct finding *finding = finding_about(&run->findings, run->rule, 0, text_base(torch->text));
    finding_count(finding, "waits", state->waits);
    finding_count(finding, "different_blocks", state->apart);
    finding_count(finding, "other_orders", state->other);
    finding_cost_unknown(finding);
}

/* Two threads by turns, each on a block of its own; whether the shim makes them wait for each other. */
#define TURN(at, behind1, behind2) \
    "1@" #at "1 launch s=L to=S1 k=_Z1aPf args=A" behind2 "\n" \
    "2@" #at "2 launch s=L to=S2 k=_Z1aPf args=A+1048576" behind1 "\n"
#define FOUR(a, b, c, d, one, two) TURN(a, one, two) TURN(b, one, two) TURN(c, one, two) TURN(d, one, two)
#define TURNS(one, two) TURN(1, one, "") FOUR(2, 3, 4, 5, one, two) FOUR(6, 7, 8, 9, one, two)
#define ALLOCATION "1@0 alloc ptr=0x200000 bytes=2097152 m=A site=torch@libc10_cuda.so\n"

static const struct rule rule = {
    .id = "blocks-of-one-allocation",
    .class_ = "H16",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .title = "threads' work waits because their tensors lie in one allocation",
    .sentence = "PyTorch's caching allocator gives threads blocks of one allocation; of a kernel the trace tells which "
                "allocation it uses, and not which part, so that work which may share nothing waits.",
    .advice = "Set PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync (from 2.11 on also PYTORCH_ALLOC_CONF): each tensor is "
              "an allocation of its own then.",
    .bad = "setting policy=guarded\n" ALLOCATION TURNS(" behind=S1", " behind=S2"),
    .good = "setting policy=guarded\n" ALLOCATION TURNS("", ""),
    .ops = RULE_SUBMITS,
    .cases = CASE_EDGE | CASE_POOL,
    .state = sizeof(struct state),
    .on_call = on_call,
    .on_edge = on_edge,
    .end = end,
};
PTDS_RULE(rule);
