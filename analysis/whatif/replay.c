/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays steps. Called by whatif.c, some times a policy. Must come to an end on any steps, whatever times they have.
 */
#include "analysis/whatif/replay.h"

#include <stdlib.h>

#include "analysis/whatif/engines.h"
#include "analysis/whatif/queues.h"
#include "analysis/whatif/turns.h"

struct context {
    struct moment end[ORDER_ROLES];    /* of all work on streams of each role */
    struct moment named[ORDER_ROLES];  /* the same, by the stream that the program named */
    struct moment opaque[ORDER_ROLES]; /* as named, of work that may touch all memory */
    struct moment shown[ORDER_ROLES];  /* as named, of work on memory that the host can touch */
    /* What blocking streams had got when the legacy stream last got anything: it is between that and what they get later.
     */
    struct moment named_before, opaque_before;
    uint32_t joins; /* a number for that */
    struct engines engines;
    struct queues queues;
};

/* A stream of the policy. */
struct lane {
    struct moment end;  /* until when there is work on it */
    struct moment done; /* ... as far as a host has waited for it */
    uint32_t queue;     /* its hardware queue, plus one; 0: it had no work yet */
};

struct thread {
    struct moment now, called; /* when its latest call returned, and began */
    uint64_t left, entered;    /* the same, as recorded */
    uint64_t copied;           /* when it began, or its latest copy that it waited for returned */
    bool began;
};

struct memory {
    struct moment written[ORDER_ROLES], read[ORDER_ROLES];
    uint32_t writer[ORDER_ROLES], reader[ORDER_ROLES]; /* the lanes of these, plus one */
    struct moment written_before, read_before;         /* by blocking streams, before the legacy stream's `joins` */
    uint32_t joins;
    uint32_t user;  /* the thread that used it last, plus one */
    uint32_t hands; /* so often another one used it than before */
};

/* What was handed on once, as memory that one thread fills before another one begins, has a new owner; what comes back does
 * not. Threads whose work meets many times share a lane under guarded, and wait for each other in the driver as before. */
enum { BACK = 2, MANY_HANDS = 12 };

enum { TURNS = 16 }; /* of more contexts some share one */

struct run {
    const struct recorded *recorded;
    const struct latencies *latencies;
    const struct assumptions *assumptions;
    unsigned policy;
    TABLE_OF(struct lane) lanes;
    TABLE_OF(struct context) contexts;
    TABLE_OF(struct thread) threads;
    TABLE_OF(struct memory) memories;
    TABLE_OF(struct moment) events;
    struct turns turns[TURNS]; /* by context */
    struct id_map lane_by_key, memory_by_uid, event_by_key;
    uint32_t newest;     /* the step whose call returned last so far, plus one */
    struct moment first; /* when the first operation was put on a device */
    bool began;
    /* What was submitted last writes memory that threads hand to each other, in an order that the policy keeps; ... again
     * and again. */
    bool queued, gathered;
    uint32_t joins; /* numbers given */
    bool failed;
};

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

static struct lane *lane_of(struct run *run, const struct step *step, struct ordered ordered)
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

static struct memory *memory_of(struct run *run, const struct step_touch *touch)
{
    return ITEM(run, &run->memories, place_of(run, &run->memory_by_uid, touch->memory, run->memories.count));
}

static bool is_of_another(const struct memory *memory, const struct step *step)
{
    return memory->user != 0 && memory->user != step->thread + 1;
}

/* No sooner than these accesses. The shim waits for the newest that is on their lane by then, which comes later than what
 * they ask for, until a host has waited for them. */
static struct moment after_accesses(const struct run *run, unsigned roles, const struct moment *by_role,
                                    const uint32_t *lane_by_role, struct moment moment)
{
    moment = moment_of_roles(moment, roles, by_role);
    for (unsigned role = 0; role < ORDER_ROLES && run->assumptions->wide; role++) {
        const struct lane *lane = lane_by_role[role] != 0 ? &run->lanes.items[lane_by_role[role] - 1] : NULL;
        if ((roles & ORDER_OF(role)) != 0 && lane != NULL && by_role[role].at > lane->done.at)
            moment = moment_max(moment, &lane->end);
    }
    return moment;
}

/* The legacy stream got something since: what blocking streams did to the memory until then comes before what they do now.
 */
static void join_memory(const struct context *context, struct memory *memory)
{
    if (context->joins <= memory->joins)
        return;
    memory->joins = context->joins;
    memory->written_before = memory->written[ORDER_ROLE_BLOCKING];
    memory->read_before = memory->read[ORDER_ROLE_BLOCKING];
}

static void join_all(struct run *run, struct context *context)
{
    context->joins = ++run->joins;
    context->named_before = context->named[ORDER_ROLE_BLOCKING];
    context->opaque_before = context->opaque[ORDER_ROLE_BLOCKING];
}

/* Of two blocking streams, where the legacy stream got something in between. */
static struct moment after_joined(struct run *run, const struct step *step, struct moment moment)
{
    struct context *context = context_of(run, step);
    moment = moment_max(moment, step->opaque ? &context->named_before : &context->opaque_before);
    for (uint32_t i = 0; i < step->touches; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        struct memory *memory = memory_of(run, touch);
        join_memory(context, memory);
        moment = moment_max(moment, &memory->written_before);
        if (touch->writes)
            moment = moment_max(moment, &memory->read_before);
    }
    return moment;
}

/* Where both use the same memory, and one writes it. */
static struct moment after_conflicts(struct run *run, const struct step *step, unsigned roles, struct moment moment)
{
    struct context *context = context_of(run, step);
    moment = moment_of_roles(moment, roles, step->opaque ? context->named : context->opaque);
    for (uint32_t i = 0; i < step->touches && roles != 0; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        const struct memory *memory = memory_of(run, touch);
        run->queued |= (memory->hands >= BACK || is_of_another(memory, step)) && touch->writes;
        run->gathered |= memory->hands >= MANY_HANDS && touch->writes;
        moment = after_accesses(run, roles, memory->written, memory->writer, moment);
        if (touch->writes)
            moment = after_accesses(run, roles, memory->read, memory->reader, moment);
    }
    return moment;
}

static void raise(struct moment *moment, struct moment to)
{
    if (to.at > moment->at)
        *moment = to;
}

static void note_conflicts(struct run *run, const struct step *step, uint32_t lane, struct moment end)
{
    enum order_role role = step->order.named;
    struct context *context = context_of(run, step);
    if (role == ORDER_ROLE_LEGACY)
        join_all(run, context);
    raise(&context->named[role], end);
    if (step->opaque)
        raise(&context->opaque[role], end);
    if (step->shown)
        raise(&context->shown[role], end);
    for (uint32_t i = 0; i < step->touches; i++) {
        const struct step_touch *touch = &run->recorded->touches.items[step->first + i];
        struct memory *memory = memory_of(run, touch);
        join_memory(context, memory);
        raise(touch->writes ? &memory->written[role] : &memory->read[role], end);
        *(touch->writes ? &memory->writer[role] : &memory->reader[role]) = lane + 1;
        memory->hands += is_of_another(memory, step);
        memory->user = step->thread + 1;
    }
}

/* ---- work ---- */

static struct moment run_work(struct run *run, const struct step *step, struct moment ready)
{
    struct context *context = context_of(run, step);
    if (step->engine == ENGINE_NONE || step->ran == STEP_UNKNOWN)
        return ready;
    struct moment begin = engines_room(&context->engines, step, ready, run->assumptions->gpu_threads);
    struct moment end = moment_after(begin, step->ran, step->engine == ENGINE_KERNELS ? PART_KERNELS : PART_COPIES);
    engines_take(&context->engines, step, begin.at, run->assumptions->gpu_threads);
    return end;
}

static struct moment queue_up(struct run *run, const struct step *step, struct lane *lane, struct moment entered,
                              struct moment ready)
{
    struct context *context = context_of(run, step);
    if (lane->queue == 0)
        lane->queue = queues_next(&context->queues, run->assumptions->queues, step->thread) + 1;
    return queues_put(&context->queues, lane->queue - 1, entered.at, ready);
}

/* Returns when what the step put on its stream is done. Implicit order is symmetrical, so `after` says all. */
static struct moment submit(struct run *run, const struct step *step, struct moment entered)
{
    struct ordered ordered = order_under(run->policy, &step->order);
    struct lane *lane = lane_of(run, step, ordered);
    struct context *context = context_of(run, step);
    bool spreads = run->assumptions->spreads && ordered.place == ORDER_AT_OWN && step->engine != ENGINE_NONE;
    struct moment before = {0};
    if (!spreads)
        before = lane->end;
    before = moment_of_roles(before, ordered.after, context->end);
    before = after_conflicts(run, step, ordered.promised, before);
    if (step->order.named == ORDER_ROLE_BLOCKING && (ordered.promised & ORDER_OF(ORDER_ROLE_LEGACY)) != 0)
        before = after_joined(run, step, before);
    if (step->op == PTDS_OP_EVENT_WAIT)
        before = moment_max(before, event_of(run, step));
    if (step->op == PTDS_OP_EVENT_RECORD && run->assumptions->host_promises) /* for a host that waits for the event */
        before = moment_of_roles(before, ordered.promised, context->shown);
    struct moment ready = entered;
    if (step->engine != ENGINE_NONE) {
        ready = moment_after(entered, run->latencies->launch, PART_LAUNCH);
        before = before.at != 0 ? moment_after(before, run->latencies->next, PART_LAUNCH) : before;
    }
    ready = moment_max(ready, &before);
    if (step->engine != ENGINE_NONE && run->assumptions->queues != 0)
        ready = queue_up(run, step, lane, entered, ready);
    struct moment end = step->work ? run_work(run, step, ready) : ready;
    if (step->op == PTDS_OP_EVENT_RECORD)
        *event_of(run, step) = end;
    raise(&lane->end, end);
    raise(&context->end[ordered.role], end);
    if (!run->failed) /* the lane is one of the list */
        note_conflicts(run, step, (uint32_t)(lane - run->lanes.items), end);
    return end;
}

/* ---- threads ---- */

/* Of a call that waits: when what it waits for is done. `own`: what it put on its stream itself. What a policy promises
 * to a host's wait is work that shows: on memory that the host can touch. */
static struct moment waits_for(struct run *run, const struct step *step, struct moment own)
{
    struct order_call call = step->order;
    struct context *context = context_of(run, step);
    if (step->waits == WAIT_EVENT)
        return *event_of(run, step);
    if (step->waits == WAIT_CONTEXT)
        return moment_of_roles(own, ORDER_OF_ALL, context->end);
    call.act = ORDER_WAITS;
    struct ordered ordered = order_under(run->policy, &call);
    struct lane *lane = lane_of(run, step, ordered);
    struct moment until = moment_max(own, &lane->end);
    lane->done = lane->end;
    until = moment_of_roles(until, ordered.after, context->end);
    return run->assumptions->host_promises ? moment_of_roles(until, ordered.promised, context->shown) : until;
}

/* On per-thread streams a synchronous copy waits for its stream with a lock that those of other threads need, and
 * allocations, too; who wanted it first need not get it first (measured: eight threads take 2.65 times as long there as
 * with asynchronous copies and a wait, without copies 1.0 times). Where threads copy again and again, two other waits may
 * come before one that is over, each about as long; else a thread may get its memory only when another one has done all
 * that it does itself before its copy. */
static struct moment passed_over(const struct run *run, const struct step *step, const struct thread *thread,
                                 struct moment until)
{
    struct order_call call = step->order;
    bool often = run->recorded->meets_often, meets = step->copies && (step->meets || often);
    uint64_t since = often ? thread->called.at : thread->copied;
    if (!run->assumptions->passes_over || !meets || until.at <= thread->called.at || until.at <= since ||
        order_under(run->policy, &call).place != ORDER_AT_PER_THREAD)
        return until;
    return moment_after(until, (often ? 2 : 1) * (until.at - since), PART_DRIVER);
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
    struct moment now = moment_after(by->now, busy, PART_HOST);
    return moment_max(now, &thread->now);
}

/* A thread's first call comes when the thread that began it had got so far, which may have waited for others until then,
 * too. The program's first one begins all, or if that is in a call, nobody knows who. */
static struct moment begin(struct run *run, const struct step *step)
{
    struct thread *first = ITEM(run, &run->threads, run->recorded->steps.items[0].thread);
    if (first->left > step->enter)
        return moment_after(first->called, step->enter - first->entered, PART_HOST);
    first->now = goes_on(run, step, first);
    first->left = step->enter;
    return first->now;
}

/* The policy gives the thread's default-stream work a stream of its own. */
static bool is_apart(const struct run *run, const struct step *step)
{
    struct order_call call = step->submits ? step->order : (struct order_call){.named = ORDER_ROLE_LEGACY};
    enum order_place place = order_under(run->policy, &call).place;
    if (place == ORDER_AT_NAMED && call.named == ORDER_ROLE_BLOCKING) { /* nobody joins it if default-stream work moves */
        call.named = ORDER_ROLE_LEGACY;
        place = order_under(run->policy, &call).place;
    }
    return place == ORDER_AT_OWN || place == ORDER_AT_PER_THREAD;
}

/* Of what other threads' calls held a call up, how much remains. Each stream has a lock of its own, and who waits for a
 * stream may keep it; so on a stream of its own a thread stands behind none of these. Where the legacy stream and blocking
 * ones waited for each other, a call on one of them was also held up by calls on all the others. One stream for all
 * default-stream work takes that away; nobody knows how much of the time it was. */
static unsigned remains_percent(const struct run *run, const struct step *step)
{
    const struct assumptions *assume = run->assumptions;
    if (is_apart(run, step))
        return run->gathered ? 100 : run->queued ? assume->queued_percent : 0;
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
    uint64_t longer = busy - step->usual, held = longer < step->held ? longer : step->held;
    return busy - held + held * remains_percent(run, step) / 100 + more;
}

/* What is left of the driver's locks, on streams of their own, is held for a part of each call. */
static struct moment in_call(struct run *run, const struct step *step, struct moment now)
{
    uint64_t ns = time_in(run, step), locked = ns * run->assumptions->locked_percent / 100;
    if (ns == 0 || step->waits != WAIT_NONE || run->queued || !is_apart(run, step))
        return moment_after(now, ns, PART_HOST);
    return turns_take(&run->turns[step->context % TURNS], now, ns, locked);
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
    now = in_call(run, step, now);
    if (step->waits != WAIT_NONE && (step->named != MODEL_NO_SLOT || step->waits != WAIT_STREAM)) {
        struct moment until = waits_for(run, step, step->work ? own : (struct moment){0});
        until = passed_over(run, step, thread, until);
        if (until.at > now.at)
            now = moment_after(until, run->latencies->wake, PART_HOST);
    }
    if (step->copies || !thread->began)
        thread->copied = now.at;
    thread->now = now;
    thread->left = step->leave;
    thread->began = true;
    run->queued = run->gathered = false;
    if (run->newest == 0 || step->leave >= run->recorded->steps.items[run->newest - 1].leave)
        run->newest = position + 1;
}

static void end(struct run *run)
{
    for (unsigned i = 0; i < TURNS; i++)
        turns_end(&run->turns[i]);
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
    for (unsigned i = 0; i < TURNS; i++)
        turns_begin(&run.turns[i], recorded->steps.count != 0 ? TABLE_LAST(&recorded->steps)->leave : 0);
    for (uint32_t i = 0; i < recorded->steps.count; i++)
        take_step(&run, i);
    for (size_t i = 0; i < run.threads.count; i++)
        latest = moment_max(latest, &run.threads.items[i].now);
    latest.at -= run.first.at;
    for (unsigned i = 0; i < PARTS; i++)
        latest.part[i] -= latest.part[i] < run.first.part[i] ? latest.part[i] : run.first.part[i];
    if (run.failed)
        latest.at = 0;
    end(&run);
    return latest;
}
