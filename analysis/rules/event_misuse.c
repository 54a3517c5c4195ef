/* SPDX-License-Identifier: Apache-2.0
 *
 * event-misuse: waits for an event that was never recorded, or for another recording than the one that the thread made;
 * and timing kept for events that only order. Run by the pass for event calls. Keeps a few words for each live event;
 * events whose creation the trace does not hold are not judged.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/findings/rule.h"

enum { NEVER_RECORDED, OTHERS_RECORDING, TIMING, FIRST_ROUND };

static const char *const details[] = {
    "waited for an event that was never recorded: the wait orders nothing",
    "another thread recorded the event again in between, on another stream: right only if it handed the event over",
    "records a time that nothing reads (created without CU_EVENT_DISABLE_TIMING)",
    "waited for an event before its first recording, and recorded it then itself: as a ring begins",
};

enum { FLAG_DISABLE_TIMING = 2, FLAG_INTERPROCESS = 4, LEAST_RECORDS = 16, MOST_EVENTS = 1 << 20, MOST_EARLY = 1 << 16 };

struct event {
    uint32_t uid;
    uint32_t generation, thread, stream;             /* the last recording: number, who, where */
    uint32_t own_generation, own_thread, own_stream; /* the one before, if another thread made it; thread 0: none */
    uint32_t awaited, awaited_by;                    /* the last recording that a thread waited for, and which thread */
    uint32_t records, waits;
    uint32_t early;                /* the last wait before the first recording, in state->early, from 1; 0 none */
    bool created, outside, timing; /* created: seen; outside: another process may record it */
    uint32_t api, stack, context, creator;
    uint64_t ticks;
};

/* A wait for an event that was never recorded. The first round of a ring of buffers waits like that, for nothing, and what
 * the thread does with the event later tells. */
struct early {
    struct finding *finding; /* NULL: a ring's */
    uint32_t thread;
    bool recorded;   /* the thread recorded the event since */
    uint32_t before; /* another one for the event, from 1; 0 none */
};

struct state {
    TABLE_OF(struct event) events;
    TABLE_OF(struct early) early;
    TABLE_OF(uint32_t) free;
    struct id_map by_uid;
    struct findings timing; /* held back: only good if the program reads no event's time at all */
    bool elapsed;
};

static struct event *event_of(struct state *state, uint32_t uid, bool make)
{
    uint32_t at;
    if (id_map_get(&state->by_uid, uid, &at))
        return &state->events.items[at];
    if (!make || uid == 0 || state->by_uid.used >= MOST_EVENTS)
        return NULL;
    if (state->free.count != 0)
        at = state->free.items[--state->free.count];
    else if (TABLE_ADD(&state->events))
        at = (uint32_t)state->events.count - 1;
    else
        return NULL;
    state->events.items[at] = (struct event){.uid = uid};
    return id_map_put(&state->by_uid, uid, at) ? &state->events.items[at] : NULL;
}

static void created(struct state *state, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t flags = call_word(view->call, 0);
    struct event *event = view->succeeded ? event_of(state, call->object, true) : NULL;
    if (event == NULL)
        return;
    bool here = view->api != NULL && view->api->text != NULL && strcmp(view->api->text, "cuEventCreate") == 0;
    event->created = true;
    event->outside = !here || (flags & FLAG_INTERPROCESS);
    event->timing = here && !(flags & FLAG_DISABLE_TIMING);
    event->api = call->api;
    event->stack = call->stack;
    event->context = call->context;
    event->creator = view->call->thread;
    event->ticks = call->enter;
}

/* The thread goes round: it recorded the event since, and this thread or another one waits for that. */
static void goes_round(struct state *state, struct event *event)
{
    uint32_t *link = &event->early;
    while (*link != 0) {
        struct early *early = &state->early.items[*link - 1];
        if (!early->recorded) {
            link = &early->before;
            continue;
        }
        early->finding = NULL;
        *link = early->before;
    }
}

static void recorded_since(struct state *state, const struct event *event, uint32_t thread)
{
    for (uint32_t at = event->early; at != 0; at = state->early.items[at - 1].before)
        state->early.items[at - 1].recorded |= state->early.items[at - 1].thread == thread;
}

static void recorded(struct state *state, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct event *event = view->succeeded ? event_of(state, call->object, true) : NULL;
    if (event == NULL)
        return;
    if (event->awaited == event->generation && event->awaited_by == view->call->thread && event->generation != 0) {
        event->own_thread = 0; /* a ring that threads share: who records next has waited for the recording before */
    } else if (event->thread != view->call->thread) { /* 0: nobody's so far */
        event->own_generation = event->generation;
        event->own_thread = event->thread;
        event->own_stream = event->stream;
    }
    event->generation = call->generation;
    event->thread = view->call->thread;
    event->stream = call->target != 0 ? call->target : call->stream;
    event->records++;
    if (event->early != 0)
        recorded_since(state, event, view->call->thread);
}

/* The thread made a recording, another thread made the next one on another stream, and the thread waits for that. A pool of
 * events does so, too, and no call shows that it handed the event over: JAX has one, recorded on a GPU. */
static bool got_others(const struct event *event, const struct call_view *view)
{
    return event->own_thread == view->call->thread && event->generation == view->call->r.generation &&
           event->own_generation < event->generation && event->own_stream != event->stream;
}

static void awaited_early(struct rule_run *run, struct state *state, const struct call_view *view, struct event *event)
{
    struct finding *finding = finding_at(&run->findings, run->rule, view, NEVER_RECORDED);
    finding_cost_unknown(finding);
    if (state->early.count >= MOST_EARLY || !TABLE_ADD(&state->early)) {
        finding_doubt(finding, DOUBT_MAY);
        return;
    }
    *TABLE_LAST(&state->early) = (struct early){.finding = finding, .thread = view->call->thread, .before = event->early};
    event->early = (uint32_t)state->early.count;
}

static void judge_early(struct rule_run *run, struct state *state)
{
    for (size_t i = 0; i < state->early.count; i++)
        finding_doubt(state->early.items[i].finding, DOUBT_MAY);
    for (size_t i = 0; i < run->findings.list.count; i++) {
        struct finding *finding = run->findings.list.items[i];
        if (finding->detail != NEVER_RECORDED || finding->doubt != DOUBT_NONE)
            continue;
        finding->detail = FIRST_ROUND;
        finding_severity(finding, SEVERITY_NOTE);
    }
    free(state->early.items);
}

static void awaited(struct rule_run *run, struct state *state, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct event *event = view->succeeded ? event_of(state, call->object, false) : NULL;
    if (event == NULL)
        return;
    event->waits += call->op == PTDS_OP_EVENT_WAIT;
    bool capturing = (call->flags & PTDS_CALL_CAPTURING) != 0;
    if (call->generation == 0 && event->created && !event->outside && !capturing) {
        awaited_early(run, state, view, event);
        return;
    }
    if (event->early != 0 && call->generation != 0)
        goes_round(state, event);
    event->awaited = call->generation;
    event->awaited_by = view->call->thread;
    if (got_others(event, view)) {
        struct finding *finding = finding_at(&run->findings, run->rule, view, OTHERS_RECORDING);
        finding_doubt(finding, DOUBT_MAY);
        finding_add(finding, FINDING_THREADS, event->thread);
        finding_add(finding, FINDING_WAITS_FOR, event->stream);
        finding_cost_unknown(finding);
        event->own_thread = 0;
    }
}

static void judge_timing(struct rule_run *run, struct state *state, const struct event *event)
{
    if (!event->timing || event->outside || event->waits == 0 || event->records < LEAST_RECORDS)
        return;
    struct call call = {.thread = event->creator};
    call.r.api = (uint16_t)event->api;
    call.r.op = PTDS_OP_EVENT_CREATE;
    call.r.stack = event->stack;
    call.r.context = event->context;
    call.r.enter = event->ticks;
    struct call_view view = {.call = &call};
    state->timing.selected = run->findings.selected;
    struct finding *finding = finding_at(&state->timing, run->rule, &view, TIMING);
    finding_severity(finding, SEVERITY_NOTE);
    finding_count(finding, "records", event->records);
    finding_cost_unknown(finding);
}

static void destroyed(struct rule_run *run, struct state *state, const struct call_view *view)
{
    uint32_t at;
    if (!view->succeeded || !id_map_get(&state->by_uid, view->call->r.object, &at))
        return;
    judge_timing(run, state, &state->events.items[at]);
    id_map_remove(&state->by_uid, view->call->r.object);
    state->events.items[at] = (struct event){0};
    if (TABLE_ADD(&state->free))
        *TABLE_LAST(&state->free) = at;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    switch (view->call->r.op) {
    case PTDS_OP_EVENT_CREATE: created(state, view); break;
    case PTDS_OP_EVENT_RECORD:
    case PTDS_OP_CTX_EVENT_RECORD: recorded(state, view); break;
    case PTDS_OP_EVENT_WAIT:
    case PTDS_OP_EVENT_SYNC: awaited(run, state, view); break;
    case PTDS_OP_EVENT_DESTROY: destroyed(run, state, view); break;
    case PTDS_OP_EVENT_ELAPSED: state->elapsed = true; break;
    default: break;
    }
}

/* The record of a read time names only the later of its two events, so where a program reads any, nothing is said. */
static void end(struct rule_run *run)
{
    struct state *state = run->state;
    judge_early(run, state);
    for (size_t i = 0; i < state->events.count; i++)
        judge_timing(run, state, &state->events.items[i]);
    if (state->elapsed)
        finding_drop_all(&state->timing);
    finding_move_all(&run->findings, &state->timing);
    free(state->events.items);
    free(state->free.items);
    id_map_free(&state->by_uid);
}

static const struct rule rule = {
    .id = "event-misuse",
    .class_ = "H15",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .title = "an event does not do what it seems to",
    .sentence = "A wait is for the recording that the event holds when the wait is made: none, or another thread's, is no "
                "order at all, and no error either.",
    .advice = "Record before waiting; one event for one producer; CU_EVENT_DISABLE_TIMING where only order is wanted.",
    .details = details,
    .bad = "1@0 event-create e=E flags=2\n"
           "1@10 wait s=N1 e=E\n"
           "1@20 record s=N1 e=E\n"
           "2@30 record s=N2 e=E\n"
           "1@40 wait s=N3 e=E\n",
    .good = "1@0 event-create e=E flags=2\n"
            "1@10 launch s=N1 k=a\n"
            "1@20 record s=N1 e=E\n"
            "1@30 wait s=N2 e=E\n"
            "2@40 record s=N2 e=E\n"
            "2@50 wait s=N3 e=E\n"
            "1@60 event-create e=Shared flags=6\n"
            "1@70 wait s=N1 e=Shared\n"
            "1@80 wait s=N1 e=NotSeenMade\n",
    .ops = RULE_OP(PTDS_OP_EVENT_CREATE) | RULE_OP(PTDS_OP_EVENT_RECORD) | RULE_OP(PTDS_OP_CTX_EVENT_RECORD) |
           RULE_OP(PTDS_OP_EVENT_WAIT) | RULE_OP(PTDS_OP_EVENT_SYNC) | RULE_OP(PTDS_OP_EVENT_DESTROY) |
           RULE_OP(PTDS_OP_EVENT_ELAPSED),
    .state = sizeof(struct state),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
