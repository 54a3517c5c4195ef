/* SPDX-License-Identifier: Apache-2.0
 *
 * pinned-reuse: pinned memory of an asynchronous copy that the program got back before the host had waited for the copy.
 * Run by the pass for copies, and for calls after which the host may use the memory. No trace shows what the host reads and
 * writes: so a finding is a question, and no result is in doubt because of it.
 */
#include <string.h>

#include "analysis/findings/rule.h"
#include "analysis/order/arguments/named_range.h"

enum { FILLED_AGAIN, WRITTEN_AGAIN, GONE };

static const char *const details[] = {
    "a later copy reads the same pinned memory: right only if the host did not write there in between",
    "a later copy writes the same pinned memory: right only if the host did not read the first copy's result",
    "the memory, or the process, went away: right only if the host never read the copy's result",
};

/* Copies that the host has not waited for; of more than these the oldest are forgotten. */
enum { COPIES_KEPT = 64 };

struct copy {
    uint64_t number; /* of the operation; 0: free */
    uint32_t slot, uid, thread;
    bool to_host;
    struct named_range host;
    struct ptds_rec_CALL call;
};

struct state {
    struct copy copies[COPIES_KEPT];
    unsigned next;
};

static bool is_pinned(unsigned kind)
{
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED;
}

/* The pinned side; false: there is none, or both sides are. */
static bool pinned_side(const struct call *call, struct named_range *host, bool *to_host)
{
    struct named_range ranges[NAMED_RANGE_MOST];
    bool all, to = is_pinned(call->r.kinds & 15), from = is_pinned(call->r.kinds >> 4);
    unsigned count = named_range_of(call, ranges, &all);
    *to_host = to;
    for (unsigned i = 0; i < count && to != from; i++) {
        *host = ranges[i];
        if (ranges[i].reads == from && ranges[i].address != 0 && ranges[i].size != 0)
            return true;
    }
    return false;
}

static bool is_waited_for(const struct model *model, const struct copy *copy)
{
    return copy->slot >= model->streams.count || model->streams.items[copy->slot].uid != copy->uid ||
           vclock_get(&model->landed, copy->slot) >= copy->number;
}

static struct edge_end end_of(const struct call *call)
{
    return (struct edge_end){.ticks = call->r.enter,
                             .thread = call->thread,
                             .stream = call->r.stream,
                             .stack = call->r.stack,
                             .api = call->r.api,
                             .op = (uint8_t)call->r.op,
                             .twin = (call->r.flags & PTDS_CALL_TWIN) != 0,
                             .target = call->r.target};
}

/* The finding is at the call that nobody waited for: there a wait is missing. */
static void flag(struct rule_run *run, struct copy *copy, const struct call_view *view, unsigned detail)
{
    struct call call = {.thread = copy->thread, .r = copy->call};
    struct call_view at = {.call = &call};
    if (!rule_asks_of(run, &at))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, &at, detail);
    if (view != NULL)
        finding_pair(finding, &(struct edge_pair){.first = end_of(&call),
                                                  .second = end_of(view->call),
                                                  .first_access = copy->to_host ? ACCESS_WRITE : ACCESS_READ,
                                                  .second_access = detail == FILLED_AGAIN ? ACCESS_READ : ACCESS_WRITE,
                                                  .address = copy->host.address,
                                                  .size = copy->host.size});
    finding_cost_unknown(finding);
}

/* Copies of memory that the call uses again. One in the other direction takes over what the first brought or freed: that is
 * between the two on the device. */
static void use(struct rule_run *run, const struct call_view *view, const struct named_range *host, bool to_host)
{
    struct state *state = run->state;
    for (struct copy *copy = state->copies; copy < state->copies + COPIES_KEPT; copy++) {
        if (copy->number != 0 && is_waited_for(run->model, copy))
            copy->number = 0;
        if (copy->number == 0 || !named_range_meets(copy->host, *host))
            continue;
        if (copy->to_host == to_host)
            flag(run, copy, view, to_host ? WRITTEN_AGAIN : FILLED_AGAIN);
        copy->number = 0;
    }
}

static void begin(struct rule_run *run, const struct call_view *view, const struct named_range *host, bool to_host)
{
    struct state *state = run->state;
    if (view->target == MODEL_NO_SLOT)
        return;
    state->copies[state->next] = (struct copy){.number = view->number,
                                               .slot = view->target,
                                               .uid = run->model->streams.items[view->target].uid,
                                               .thread = view->call->thread,
                                               .to_host = to_host,
                                               .host = *host,
                                               .call = view->call->r};
    state->next = (state->next + 1) % COPIES_KEPT;
}

/* Results in memory that goes away: all of it, where `address` is 0. */
static void gone(struct rule_run *run, const struct call_view *view, uint64_t address)
{
    struct state *state = run->state;
    for (struct copy *copy = state->copies; copy < state->copies + COPIES_KEPT; copy++) {
        if (copy->number == 0 || (address != 0 && copy->host.address != address))
            continue;
        if (copy->to_host && !is_waited_for(run->model, copy))
            flag(run, copy, view, GONE);
        copy->number = 0;
    }
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    struct named_range host;
    bool to_host;
    switch (view->call->r.op) {
    case PTDS_OP_COPY:
        if (view->work && pinned_side(view->call, &host, &to_host)) {
            use(run, view, &host, to_host);
            begin(run, view, &host, to_host);
        }
        return;
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER:
        if (view->succeeded)
            gone(run, view, call_word(view->call, 0));
        return;
    default: /* a host function, or a word that the host can read: it may tell the program that copies are done */
        memset(state->copies, 0, sizeof state->copies);
    }
}

static void end(struct rule_run *run)
{
    if (run->trace->header.clean_end)
        gone(run, NULL, 0);
}

static const struct rule rule = {
    .id = "pinned-reuse",
    .class_ = "R5",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_NOTE,
    .by_host = true,
    .title = "pinned memory is used again, and nobody waited for its copy",
    .sentence = "The copy is asynchronous, and no call that waits for it came before its pinned memory was used again. "
                "What the host reads "
                "and writes there no call shows.",
    .advice = "If the host touches the memory in between, let it wait first: for an event that is recorded behind the "
              "copy, or for the stream.",
    .details = details,
    .bad = "1@0 alloc-host m=H ptr=0x30000 bytes=4096\n"
           "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
           "1@1 copy s=N1 src=H from=pinned dst=A to=device bytes=4096\n"
           "1@2 copy s=N1 src=H from=pinned dst=A to=device bytes=4096\n",
    .good = "1@0 alloc-host m=H ptr=0x30000 bytes=4096\n"
            "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
            "1@1 copy s=N1 src=H from=pinned dst=A to=device bytes=2048\n"
            "1@2 copy s=N1 src=H+2048 from=pinned dst=A to=device bytes=2048\n"
            "1@3 record s=N1 e=E\n"
            "1@4+9 event-sync e=E\n"
            "1@20 copy s=N1 src=H from=pinned dst=A to=device bytes=4096\n",
    .ops = RULE_OP(PTDS_OP_COPY) | RULE_OP(PTDS_OP_FREE_HOST) | RULE_OP(PTDS_OP_UNREGISTER) |
           RULE_OP(PTDS_OP_HOST_FUNCTION) | RULE_OP(PTDS_OP_WRITE_VALUE),
    .state = sizeof(struct state),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
