/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays steps. Called by whatif.c, some times a policy. Must come to an end on any steps, whatever times they have.
 */
#include "analysis/whatif/replay.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/whatif/promised.h"
#include "analysis/whatif/replay_state.h"

static struct moment *event_of(struct run *run, const struct step *step)
{
    uint64_t key = (uint64_t)step->event << 32 | step->generation;
    return ITEM(run, &run->events, place_of(run, &run->event_by_key, key, run->events.count));
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
        lane->queue = device_queues_next(&context->queues, run->assumptions->queues, step->thread) + 1;
    return device_queues_put(&context->queues, lane->queue - 1, entered.at, ready);
}

/* Returns when what the step put on its stream is done. Implicit order is symmetrical, so `after` says all. */
static struct moment submit(struct run *run, const struct step *step, struct moment entered)
{
    struct ordered ordered = implicit_order_under(run->policy, &step->order);
    struct lane *lane = lane_of(run, step, ordered);
    struct context *context = context_of(run, step);
    bool spreads = run->assumptions->spreads && ordered.place == ORDER_AT_OWN && step->engine != ENGINE_NONE;
    struct moment before = {0};
    if (!spreads)
        before = lane->end;
    before = moment_of_roles(before, ordered.after, context->end);
    before = promised_after(run, step, ordered.promised, before);
    if (step->op == PTDS_OP_EVENT_WAIT)
        before = moment_max(before, event_of(run, step));
    struct moment ready = entered;
    if (step->engine != ENGINE_NONE) {
        ready = moment_after(entered, run->latencies->launch, PART_LAUNCH);
        before = before.at != 0 ? moment_after(before, run->latencies->next, PART_LAUNCH) : before;
    }
    ready = moment_max(ready, &before);
    if (step->engine != ENGINE_NONE && run->assumptions->queues != 0)
        ready = queue_up(run, step, lane, entered, ready);
    struct moment end = step->work ? run_work(run, step, ready) : ready;
    if (step->guessed)
        raise(&run->waited_for, end);
    if (step->op == PTDS_OP_EVENT_RECORD)
        *event_of(run, step) = end;
    raise(&lane->end, end);
    raise(&context->end[ordered.role], end);
    if (!run->failed) /* the lane is one of the list */
        promised_note(run, step, (uint32_t)(lane - run->lanes.items), end);
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
    struct ordered ordered = implicit_order_under(run->policy, &call);
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
        implicit_order_under(run->policy, &call).place != ORDER_AT_PER_THREAD)
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
    enum order_place place = implicit_order_under(run->policy, &call).place;
    if (place == ORDER_AT_NAMED && call.named == ORDER_ROLE_BLOCKING) { /* nobody joins it if default-stream work moves */
        call.named = ORDER_ROLE_LEGACY;
        place = implicit_order_under(run->policy, &call).place;
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

bool replay_run(const struct recorded *recorded, unsigned policy, const struct latencies *latencies,
                const struct assumptions *assumptions, struct moment *out)
{
    struct run run = {.recorded = recorded, .latencies = latencies, .assumptions = assumptions, .policy = policy};
    struct moment latest = {0};
    for (unsigned i = 0; i < TURNS; i++)
        turns_begin(&run.turns[i], recorded->steps.count != 0 ? TABLE_LAST(&recorded->steps)->leave : 0);
    for (uint32_t i = 0; i < recorded->steps.count; i++)
        take_step(&run, i);
    for (size_t i = 0; i < run.threads.count; i++)
        latest = moment_max(latest, &run.threads.items[i].now);
    latest = moment_max(latest, &run.waited_for); /* nobody knows that it takes less than the wait for it did */
    latest.at -= run.first.at;
    for (unsigned i = 0; i < PARTS; i++)
        latest.part[i] -= latest.part[i] < run.first.part[i] ? latest.part[i] : run.first.part[i];
    end(&run);
    *out = latest;
    return !run.failed;
}
