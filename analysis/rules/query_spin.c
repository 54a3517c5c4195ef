/* SPDX-License-Identifier: Apache-2.0
 *
 * query-spin: a thread asks "is it done?" over and over, which keeps a core busy and enters the driver each time. Run by
 * the pass for every query. A spin is a run of "not ready" answers to one thread, about one stream or event, close
 * together; the time from its first query to its last is what the thread spent on it.
 */
#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/findings/rule.h"

enum { NOT_READY = 600, LEAST_QUERIES = 100, MOST_GAP_NS = 100000, MOST_THREADS = 4096 };

static const char *const details[] = {"asked about an event", "asked about a stream"};

struct spin {
    uint32_t thread, about; /* uids; about: the event's or the stream's */
    uint32_t op;
    uint64_t queries, first, last; /* ticks */
};

struct state {
    struct id_map by_thread;
    TABLE_OF(struct spin) spins;
};

static struct spin *spin_of(struct state *state, uint32_t thread)
{
    uint32_t at;
    if (id_map_get(&state->by_thread, thread, &at))
        return &state->spins.items[at];
    at = (uint32_t)state->spins.count;
    if (at == MOST_THREADS || !TABLE_ADD(&state->spins) || !id_map_put(&state->by_thread, thread, at))
        return NULL;
    state->spins.items[at] = (struct spin){.thread = thread};
    return &state->spins.items[at];
}

static void count(struct rule_run *run, const struct call_view *view, const struct spin *spin, uint64_t before)
{
    bool begins = spin->queries == LEAST_QUERIES;
    struct finding *finding = finding_at(&run->findings, run->rule, view, view->call->r.op == PTDS_OP_STREAM_QUERY);
    finding_count(finding, "spins", begins);
    finding_count(finding, "queries", begins ? LEAST_QUERIES : 1);
    finding_most(finding, "longest_spin_ns", trace_ns(run->trace, spin->last - spin->first));
    if (trace_has_time(run->trace))
        finding_cost(finding, trace_ns(run->trace, spin->last - (begins ? spin->first : before)));
    else
        finding_cost_unknown(finding);
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct spin *spin = spin_of(run->state, view->call->thread);
    if (spin == NULL)
        return;
    uint32_t about = call->op == PTDS_OP_STREAM_QUERY ? call->stream : call->object;
    bool goes_on = spin->queries != 0 && spin->about == about && spin->op == call->op && call->enter >= spin->last &&
                   trace_ns(run->trace, call->enter - spin->last) <= MOST_GAP_NS;
    if (call->result != NOT_READY) {
        spin->queries = 0;
        return;
    }
    uint64_t before = spin->last;
    if (!goes_on)
        *spin = (struct spin){.thread = spin->thread, .about = about, .op = call->op, .first = call->enter};
    spin->last = call->enter;
    if (++spin->queries >= LEAST_QUERIES)
        count(run, view, spin, before);
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    id_map_free(&state->by_thread);
    free(state->spins.items);
}

#define EVERY_10_US(q, at) \
    "1@" at "00 " q "1@" at "10 " q "1@" at "20 " q "1@" at "30 " q "1@" at "40 " q "1@" at "50 " q "1@" at "60 " q \
    "1@" at "70 " q "1@" at "80 " q "1@" at "90 " q
#define QUERY "query s=N1 result=600\n"
#define HUNDRED_QUERIES \
    EVERY_10_US(QUERY, "1") \
    EVERY_10_US(QUERY, "2") \
    EVERY_10_US(QUERY, "3") \
    EVERY_10_US(QUERY, "4") \
    EVERY_10_US(QUERY, "5") \
    EVERY_10_US(QUERY, "6") \
    EVERY_10_US(QUERY, "7") \
    EVERY_10_US(QUERY, "8") \
    EVERY_10_US(QUERY, "9") \
    EVERY_10_US(QUERY, "1" \
                       "0")

static const struct rule rule = {
    .id = "query-spin",
    .class_ = "H15",
    .removed_by = REMOVED_WITH_PART,
    .severity = SEVERITY_NOTE,
    .at_call = true,
    .title = "a thread waits by asking over and over",
    .sentence = "A loop of cuStreamQuery or cuEventQuery keeps a core busy and enters the driver each time, which other "
                "threads' calls feel.",
    .advice =
        "Wait with cuStreamSynchronize or cuEventSynchronize (CU_CTX_SCHED_BLOCKING_SYNC frees the core), or ask less "
        "often.",
    .details = details,
    .bad = "1@0 launch s=N1 k=a\n" HUNDRED_QUERIES,
    .good = "1@0 launch s=N1 k=a\n"
            "1@10 query s=N1 result=600\n"
            "1@300 query s=N1 result=600\n"
            "1@600 query s=N1\n",
    .ops = RULE_OP(PTDS_OP_STREAM_QUERY) | RULE_OP(PTDS_OP_EVENT_QUERY),
    .state = sizeof(struct state),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
