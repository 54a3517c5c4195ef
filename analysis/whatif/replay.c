/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays steps. Called by whatif.c, some times a policy. Must come to an end on any steps, whatever times they have.
 */
#include "analysis/whatif/replay.h"

#include <stdlib.h>

#include "analysis/whatif/engines.h"

struct context {
    struct moment end[ORDER_ROLES];    /* of all work on streams of each role */
    struct moment named[ORDER_ROLES];  /* the same, by the stream that the program named */
    struct moment opaque[ORDER_ROLES]; /* as named, of work that may touch all memory */
    struct engines engines;
};

struct thread {
    struct moment now, called; /* when its latest call returned, and began */
    uint64_t left, entered;    /* the same, as recorded */
    bool began;
};

struct memory {
    struct moment written[ORDER_ROLES], read[ORDER_ROLES];
    uint32_t user; /* the thread that used it first, plus one */
    bool handed;   /* another one used it, too */
};

struct run {
    const struct recorded *recorded;
    const struct latencies *latencies;
    const struct assumptions *assumptions;
    unsigned policy;
    TABLE_OF(struct moment) lanes; /* until when there is work on each stream of the policy */
    TABLE_OF(struct context) contexts;
    TABLE_OF(struct thread) threads;
    TABLE_OF(struct memory) memories;
    TABLE_OF(struct moment) events;
    struct id_map lane_by_key, memory_by_uid, event_by_key;
    uint32_t newest;     /* the step whose call returned last so far, plus one */
    struct moment first; /* when the first operation was put on a device */
    bool began;
    bool queued; /* what was submitted last writes memory that threads hand to each other, in an order that the policy keeps
                  */
    bool failed;
};

static struct moment max_of(struct moment a, const struct moment *b)
{
    return b->at > a.at ? *b : a;
}

static struct moment after(struct moment moment, uint64_t ns, enum part part)
{
    moment.at += ns;
    moment.part[part] += ns;
    return moment;
}

/* The item at a position, made if need be; an item of no use without memory. */
#define ITEM(run, list, at) \
    ({ \
        static __typeof__(*(list)->items) none_; \
        const size_t at_ = (at); /* once: what finds it may find another place the next time */ \
        while ((list)->count <= at_ && TABLE_ADD(list)) \
            *TABLE_LAST(list) = (__typeof__(none_)){0}; \
        (run)->failed |= (list)->count <= at_; \
        (list)->count > at_ ? &(list)->items[at_] : &none_; \
    })

/* The same by a key. */
static uint32_t place_of(struct run *run, struct id_map *map, uint64_t key, size_t count)
{
    uint32_t place;
    if (id_map_get(map, key, &place))
        return place;
    run->failed |= !id_map_put(map, key, (uint32_t)count);
    return (uint32_t)count;
}

static struct moment *event_of(struct run *run, const struct step *step)
{
    uint64_t key = (uint64_t)step->event << 32 | step->generation;
    return ITEM(run, &run->events, place_of(run, &run->event_by_key, key, run->events.count));
}

static struct context *context_of(struct run *run, const struct step *step)
{
    return ITEM(run, &run->contexts, step->context);
}

static struct moment *lane_of(struct run *run, const struct step *step, struct ordered ordered)
{
    uint64_t key = step->named;
    if (ordered.place == ORDER_AT_SENT)
        key = step->sent;
    else if (ordered.place == ORDER_AT_OWN || ordered.place == ORDER_AT_PER_THREAD)
        key = step->own;
    else if (ordered.place == ORDER_AT_SHARED)
        key = (uint64_t)step->context << 32 | UINT32_MAX;
    return ITEM(run, &run->lanes, place_of(run, &run->lane_by_key, key, run->lanes.count));
}

/* ---- what work comes after ---- */

static struct moment after_roles(struct moment moment, unsigned roles, const struct moment *by_role)
{
    for (unsigned role = 0; role < ORDER_ROLES; role++)
        if (roles & ORDER_OF(role))
            moment = max_of(moment, &by_role[role]);
    return moment;
}

static struct memory *memory_of(struct run *run, const struct step_touch *touch)
{
    return ITEM(run, &run->memories, place_of(run, &run->memory_by_uid, touch->memory, run->memories.count));
}

/* Where both use the same memory, and one writes it. */
static struct moment after_conflicts(struct run *run, const struct step *step, unsigned roles, struct moment moment)
{
    struct context *context = context_of(run, step);
    moment = after_roles(moment, roles, step->opaque ? context->named : context->opaque);
    for (uint32_t i = 0; i < step->touches && roles != 0; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        const struct memory *memory = memory_of(run, touch);
        run->queued |= memory->handed && touch->writes;
        moment = after_roles(moment, roles, memory->written);
        if (touch->writes)
            moment = after_roles(moment, roles, memory->read);
    }
    return moment;
}

static void raise(struct moment *moment, struct moment to)
{
    if (to.at > moment->at)
        *moment = to;
}

static void note_conflicts(struct run *run, const struct step *step, struct moment end)
{
    enum order_role role = step->order.named;
    struct context *context = context_of(run, step);
    raise(&context->named[role], end);
    if (step->opaque)
        raise(&context->opaque[role], end);
    for (uint32_t i = 0; i < step->touches; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        struct memory *memory = memory_of(run, touch);
        raise(touch->writes ? &memory->written[role] : &memory->read[role], end);
        memory->user = memory->user != 0 ? memory->user : step->thread + 1;
        memory->handed |= memory->user != step->thread + 1;
    }
}

/* ---- work ---- */

static struct moment run_work(struct run *run, const struct step *step, struct moment ready)
{
    struct context *context = context_of(run, step);
    if (step->engine == ENGINE_NONE || step->ran == STEP_UNKNOWN)
        return ready;
    struct moment begin = engines_room(&context->engines, step, ready, run->assumptions->gpu_threads);
    struct moment end = after(begin, step->ran, step->engine == ENGINE_KERNELS ? PART_KERNELS : PART_COPIES);
    engines_take(&context->engines, step, begin.at, run->assumptions->gpu_threads);
    return end;
}

/* Returns when what the step put on its stream is done. Implicit order is symmetrical, so `after` says all. */
static struct moment submit(struct run *run, const struct step *step, struct moment entered)
{
    struct ordered ordered = order_under(run->policy, &step->order);
    struct moment *lane = lane_of(run, step, ordered);
    struct context *context = context_of(run, step);
    bool spreads = run->assumptions->spreads && ordered.place == ORDER_AT_OWN && step->engine != ENGINE_NONE;
    struct moment before = spreads ? (struct moment){0} : *lane;
    before = after_roles(before, ordered.after, context->end);
    before = after_conflicts(run, step, ordered.promised, before);
    if (step->op == PTDS_OP_EVENT_WAIT)
        before = max_of(before, event_of(run, step));
    struct moment ready = entered;
    if (step->engine != ENGINE_NONE) {
        ready = after(entered, run->latencies->launch, PART_LAUNCH);
        before = before.at != 0 ? after(before, run->latencies->next, PART_LAUNCH) : before;
    }
    ready = max_of(ready, &before);
    struct moment end = step->work ? run_work(run, step, ready) : ready;
    if (step->op == PTDS_OP_EVENT_RECORD)
        *event_of(run, step) = end;
    raise(lane, end);
    raise(&context->end[ordered.role], end);
    note_conflicts(run, step, end);
    return end;
}

/* ---- threads ---- */

/* Of a call that waits: when what it waits for is done. `own`: what it put on its stream itself. */
static struct moment waits_for(struct run *run, const struct step *step, struct moment own)
{
    struct order_call call = step->order;
    struct context *context = context_of(run, step);
    if (step->waits == WAIT_EVENT)
        return *event_of(run, step);
    if (step->waits == WAIT_CONTEXT)
        return after_roles(own, ORDER_OF_ALL, context->end);
    call.act = ORDER_WAITS;
    struct ordered ordered = order_under(run->policy, &call);
    struct moment until = max_of(own, lane_of(run, step, ordered));
    until = after_roles(until, ordered.after, context->end);
    return run->assumptions->host_promises ? after_roles(until, ordered.promised, context->named) : until;
}

/* A thread that did nothing for so long may have waited for another one, and went on so soon after it. */
enum { LONG_NS = 50000, SOON_NS = 200000 };

/* The call of another thread that the thread was waiting for when it made none itself: one that was its thread's last (it
 * was joined), or where that is assumed one that returned just before. NULL: it was busy. */
static const struct step *waited_for(const struct run *run, const struct step *step, const struct thread *thread)
{
    if (run->newest == 0)
        return NULL;
    const struct step *other = &run->recorded->steps.items[run->newest - 1];
    if (other->thread == step->thread || other->leave > step->enter || other->leave < thread->left)
        return NULL;
    uint64_t since = step->enter - other->leave, all = step->enter - thread->left;
    bool follows = all > LONG_NS && (since < SOON_NS || since < all / 4);
    return other->last || (follows && run->assumptions->follows) ? other : NULL;
}

static struct moment goes_on(struct run *run, const struct step *step, const struct thread *thread)
{
    const struct step *other = waited_for(run, step, thread);
    const struct thread *by = other != NULL ? ITEM(run, &run->threads, other->thread) : thread;
    uint64_t busy = step->enter > by->left ? step->enter - by->left : 0;
    struct moment now = after(by->now, busy, PART_HOST);
    return max_of(now, &thread->now);
}

/* A thread's first call comes when the thread that began it had got so far, which may have waited for others until then,
 * too. The program's first one begins all, or if that is in a call, nobody knows who. */
static struct moment begin(struct run *run, const struct step *step)
{
    struct thread *first = ITEM(run, &run->threads, run->recorded->steps.items[0].thread);
    if (first->left > step->enter)
        return after(first->called, step->enter - first->entered, PART_HOST);
    first->now = goes_on(run, step, first);
    first->left = step->enter;
    return first->now;
}

/* The policy gives the thread's default-stream work a stream of its own. */
static bool is_apart(const struct run *run, const struct step *step)
{
    struct order_call call = step->submits ? step->order : (struct order_call){.named = ORDER_ROLE_LEGACY};
    enum order_place place = order_under(run->policy, &call).place;
    return place == ORDER_AT_OWN || place == ORDER_AT_PER_THREAD;
}

/* Of what other threads' calls held a call up, how much remains. Where the legacy stream and blocking ones waited for each
 * other, a call on one of them was also held up by calls on all the others. One stream for all default-stream work takes
 * that away; nobody knows how much of the time it was. */
static unsigned remains_percent(const struct run *run, const struct step *step)
{
    const struct assumptions *assume = run->assumptions;
    if (is_apart(run, step))
        return run->queued ? assume->queued_percent : assume->held_percent;
    if (run->policy == ORDER_STREAM && run->recorded->joined)
        return assume->joined_percent;
    return 100;
}

/* How long the thread is in the call, but for what it waits for there. */
static uint64_t time_in(const struct run *run, const struct step *step)
{
    uint64_t all = step->leave - step->enter, busy = all > step->waited ? all - step->waited : 0;
    uint64_t more = run->queued && run->policy == ORDER_GUARDED ? run->assumptions->hand_ns : 0;
    if (step->waits != WAIT_NONE || busy <= step->usual)
        return busy + more;
    return step->usual + (busy - step->usual) * remains_percent(run, step) / 100 + more;
}

static void take_step(struct run *run, uint32_t position)
{
    const struct step *step = &run->recorded->steps.items[position];
    struct thread *thread = ITEM(run, &run->threads, step->thread);
    struct moment now = thread->began || run->newest == 0 ? goes_on(run, step, thread) : begin(run, step), own = now;
    if (step->engine != ENGINE_NONE && !run->began) {
        run->began = true;
        run->first = now;
    }
    if (step->submits && step->named != MODEL_NO_SLOT)
        own = submit(run, step, now);
    thread->called = now;
    thread->entered = step->enter;
    now = after(now, time_in(run, step), PART_HOST);
    if (step->waits != WAIT_NONE && (step->named != MODEL_NO_SLOT || step->waits != WAIT_STREAM)) {
        struct moment until = waits_for(run, step, step->work ? own : (struct moment){0});
        if (until.at > now.at)
            now = after(until, run->latencies->wake, PART_HOST);
    }
    thread->now = now;
    thread->left = step->leave;
    thread->began = true;
    run->queued = false;
    if (run->newest == 0 || step->leave >= run->recorded->steps.items[run->newest - 1].leave)
        run->newest = position + 1;
}

static void end(struct run *run)
{
    free(run->lanes.items);
    free(run->contexts.items);
    free(run->threads.items);
    free(run->memories.items);
    free(run->events.items);
    id_map_free(&run->lane_by_key);
    id_map_free(&run->memory_by_uid);
    id_map_free(&run->event_by_key);
}

struct moment replay_run(const struct recorded *recorded, unsigned policy, const struct latencies *latencies,
                         const struct assumptions *assumptions)
{
    struct run run = {.recorded = recorded, .latencies = latencies, .assumptions = assumptions, .policy = policy};
    struct moment latest = {0};
    for (uint32_t i = 0; i < recorded->steps.count; i++)
        take_step(&run, i);
    for (size_t i = 0; i < run.threads.count; i++)
        latest = max_of(latest, &run.threads.items[i].now);
    latest.at -= run.first.at;
    for (unsigned i = 0; i < PARTS; i++)
        latest.part[i] -= latest.part[i] < run.first.part[i] ? latest.part[i] : run.first.part[i];
    if (run.failed)
        latest.at = 0;
    end(&run);
    return latest;
}
