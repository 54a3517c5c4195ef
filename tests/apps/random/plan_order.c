// SPDX-License-Identifier: Apache-2.0
//
// What a program puts where legacy order lacks: events between streams, something on the default stream between two
// blocking ones, a wait of the host before it reads or writes. Called by plan.c for every operation. Nothing is put where
// order is there already.

#include <string.h>

#include "plan.h"

enum { EDGES_MOST = 12, HOST_TRIES = 10, BY_GRAPH = 3 /* one in so many */ };

static void put(struct plan *p, enum op_kind kind, unsigned stream, unsigned event)
{
    struct op op = {.kind = (uint8_t)kind, .stream = (uint8_t)stream, .event = (uint8_t)event};
    op.by_name = stream == LEGACY && plan_any(p, 5) == 0;
    if ((kind == EVENT_RECORD || kind == EVENT_WAIT) && plan_any(p, BY_GRAPH) == 0)
        op.kind = kind == EVENT_RECORD ? EVENT_RECORD_BY_GRAPH : EVENT_WAIT_BY_GRAPH;
    plan_emit(p, &op);
}

static int may_use(const struct plan *p, unsigned stream)
{
    if (!p->model.streams[stream].live)
        return 0;
    return p->model.streams[stream].kind != KIND_PER_THREAD || stream == p->seat_stream[p->seat];
}

// Something on the default stream, without data: later work of blocking streams comes after all that blocking streams have.
static void separate(struct plan *p)
{
    if (plan_any(p, 2))
        put(p, KERNEL_EMPTY, LEGACY, 0);
    else
        put(p, EVENT_RECORD, LEGACY, plan_any(p, EVENTS));
}

// After it the next operation of `to` comes after all that `from` has.
static void edge(struct plan *p, unsigned from, unsigned to)
{
    unsigned event = plan_any(p, EVENTS);
    int free_from = p->model.streams[from].kind == KIND_NON_BLOCKING,
        free_to = p->model.streams[to].kind == KIND_NON_BLOCKING;
    if (!free_from && !free_to && (!may_use(p, from) || plan_any(p, 2))) {
        separate(p);
        return;
    }
    put(p, EVENT_RECORD, may_use(p, from) ? from : LEGACY, event);
    put(p, EVENT_WAIT, !free_to && plan_any(p, 3) == 0 ? LEGACY : to, event);
}

// Mostly another operation is chosen where this one needs more order than there is.
int plan_admit(struct plan *p, struct op *op)
{
    for (int edges = 0; edges < EDGES_MOST; edges++) {
        int from = model_missing(p, op);
        if (from < 0) {
            plan_emit(p, op);
            return 1;
        }
        if (!edges && plan_any(p, 3))
            return 0;
        edge(p, (unsigned)from, op->stream);
    }
    return 0;
}

static void draw_wait(struct plan *p, struct op *wait)
{
    static const uint8_t kinds[] = {STREAM_SYNCHRONIZE, STREAM_QUERY, EVENT_SYNCHRONIZE, EVENT_QUERY};
    unsigned own = plan_any(p, 4);
    memset(wait, 0, sizeof *wait);
    wait->kind = kinds[plan_any(p, sizeof kinds)];
    wait->event = (uint8_t)plan_any(p, EVENTS);
    wait->stream = (uint8_t)plan_any(p, STREAMS_FIXED);
    if (own == 0)
        wait->stream = p->seat_stream[p->seat];
    else if (own < 3)
        wait->stream = LEGACY;
    wait->by_name = wait->stream == LEGACY && plan_any(p, 4) == 0;
}

static int helps(const struct plan *p, const struct op *wait, const struct op *op)
{
    struct clock host = p->model.host, gained;
    if (wait->kind == STREAM_SYNCHRONIZE || wait->kind == STREAM_QUERY)
        gained = model_synchronized(&p->model, wait->stream);
    else
        gained = p->model.events[wait->event];
    model_join(&host, &gained);
    return model_host_missing(p, op, &host) < 0;
}

// A copy of something else that the host waits for, or an event of its own that it waits for.
static int by_default_stream(struct plan *p, const struct op *op)
{
    struct clock host = p->model.host, gained = model_next(&p->model, LEGACY);
    struct op copy = {.kind = DEVICE_TO_PAGEABLE_SYNC, .stream = LEGACY};
    unsigned event = plan_any(p, EVENTS);
    model_join(&host, &gained);
    if (model_host_missing(p, op, &host) >= 0)
        return 0;
    copy.from = plan_range(p, plan_any(p, POOLED), LEGACY);
    if (plan_any(p, 2) && model_missing(p, &copy) < 0) {
        plan_emit(p, &copy);
        return 1;
    }
    put(p, EVENT_RECORD, LEGACY, event);
    put(p, plan_any(p, 2) ? EVENT_SYNCHRONIZE : EVENT_QUERY, 0, event);
    return 1;
}

// The host waits for what is enough, drawn from the ways there are; then op, which it does itself.
void plan_host_access(struct plan *p, struct op *op)
{
    struct op wait;
    for (int tries = 0; model_host_missing(p, op, &p->model.host) >= 0 && tries < HOST_TRIES; tries++) {
        if (plan_any(p, 3) == 0 && by_default_stream(p, op))
            break;
        draw_wait(p, &wait);
        if (helps(p, &wait, op))
            plan_emit(p, &wait);
    }
    if (model_host_missing(p, op, &p->model.host) >= 0) {
        wait = (struct op){.kind = CONTEXT_SYNCHRONIZE};
        plan_emit(p, &wait);
    }
    plan_emit(p, op);
}
