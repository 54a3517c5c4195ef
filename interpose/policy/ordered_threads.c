/* SPDX-License-Identifier: Apache-2.0
 *
 * Order between threads under policy ordered, where one hands over to another (interpose/handover). Called before a
 * hand-over, to publish what the thread has put on streams, and before work of a thread that has taken something over.
 *
 * A thread's work in a context is a lane. Its two events stand for the default-stream work so far, and for that and the
 * blocking streams that the default stream has joined; counts tell how often each was handed over. Legacy order makes
 * default-stream work wait for both kinds, and work on a blocking stream only for the first: threads that stay on streams
 * of their own must not be held up by each other.
 *
 * Publishing is done by the thread itself, since 0x2 is the caller's. What it can't publish (its 0x2 is capturing, it is at
 * its end) it only counts; who takes that over waits for everything, by way of the legacy stream. Must make no call that a
 * capture forbids.
 */
#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/doors/driver.h"
#include "interpose/handover/handover.h"
#include "interpose/policy/ordered.h"
#include "interpose/policy/policy.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

#include <errno.h>
#include <string.h>

static struct lane {
    struct context *context;
    uint32_t context_uid;
    CUevent event[HANDED_KINDS];
    uint32_t stream_uid[HANDED_KINDS]; /* of the 0x2 that it was recorded on */
    uint64_t until[HANDED_KINDS];      /* ticks: the event stands for work put there before, for the record */
    uint64_t handed[HANDED_KINDS];     /* times that work of this kind was handed over; the owner's */
    uint64_t recorded[HANDED_KINDS];   /* of these, what the event stands for; anybody reads it */
    uint64_t over[HANDED_KINDS];       /* of these, what somebody found done; anybody writes it */
} lanes[LANES];
static struct lock giving_out;

static struct lane *lane_of(const struct thread_context *here)
{
    return &lanes[here->lane - 1];
}

/* A lane is kept with the thread's entry, which a later thread inherits; those of contexts that are gone are free. */
static int have_lane(struct thread_context *here)
{
    if (here->lane)
        return 1;
    lock_take(&giving_out);
    for (uint32_t i = 0; i < LANES && !here->lane; i++) {
        if (lanes[i].context && !__atomic_load_n(&lanes[i].context->gone, __ATOMIC_ACQUIRE))
            continue;
        lanes[i].event[HANDED_DEFAULT] = lanes[i].event[HANDED_JOINED] = NULL;
        lanes[i].context = here->context;
        __atomic_store_n(&lanes[i].context_uid, here->context_uid, __ATOMIC_RELEASE);
        here->lane = i + 1;
    }
    lock_drop(&giving_out);
    return here->lane != 0;
}

/* The default stream waits for everything in the context, as legacy order would have it. */
static int wait_for_all(struct thread_context *here)
{
    return !capture_blocks_legacy(here->context) && ordered_events(here) &&
           ordered_edge(here->other_event, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD);
}

/* The lane's events must go on standing for the work of the thread that had it before. */
static int follow_predecessor(struct thread_context *here)
{
    const struct lane *lane = lane_of(here);
    for (int kind = 0; here->lane_inherited && kind < HANDED_KINDS; kind++) {
        int all = lane->recorded[kind] != lane->handed[kind];
        if (all ? !wait_for_all(here)
                : lane->event[kind] && REAL(cuStreamWaitEvent)(CU_STREAM_PER_THREAD, lane->event[kind], 0) != CUDA_SUCCESS)
            return 0;
    }
    here->lane_inherited = 0;
    return 1;
}

static void count(struct thread_context *here, int kind)
{
    uint64_t handed = ++lane_of(here)->handed[kind];
    handover_note(kind, (int)here->lane - 1, handed);
}

/* Counted, and what the lane stands for from now on; `done`: nothing of it is left to be done. */
static void count_recorded(struct thread_context *here, int kind, uint64_t until, int done)
{
    struct lane *lane = lane_of(here);
    __atomic_store_n(&lane->until[kind], until, __ATOMIC_RELAXED);
    count(here, kind);
    __atomic_store_n(&lane->stream_uid[kind], here->per_thread_uid, __ATOMIC_RELAXED);
    if (done)
        __atomic_store_n(&lane->over[kind], lane->handed[kind], __ATOMIC_RELAXED);
    __atomic_store_n(&lane->recorded[kind], lane->handed[kind], __ATOMIC_RELEASE);
}

static int record(struct thread_context *here, int kind, uint32_t owed)
{
    struct lane *lane = lane_of(here);
    if (!(here->default_dirty & owed))
        return 1;
    if (!lane->event[kind] && REAL(cuEventCreate)(&lane->event[kind], CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return 0;
    uint64_t now = clock_ticks();
    if (REAL(cuEventRecord)(lane->event[kind], CU_STREAM_PER_THREAD) != CUDA_SUCCESS)
        return 0;
    count_recorded(here, kind, now, 0);
    here->default_dirty &= ~owed;
    return 1;
}

/* What was put on created streams, for others' default-stream work. */
static int join(struct thread_context *here)
{
    if (here->dirty_count)
        ordered_join(NULL, here);
    if (here->unjoined && wait_for_all(here)) {
        here->unjoined = 0;
        here->default_dirty |= OWED_JOINED;
    }
    return !here->unjoined;
}

/* Without events there is only work that is done. */
static void finish(struct thread_context *here)
{
    if (capture_any() || !REAL(cuStreamSynchronize))
        return;
    for (uint32_t i = 0; i < here->used_count; i++) {
        struct used_stream *used = &here->used[i];
        if (!used->dirty || !ordered_alive(used) || !objects_stream_pin(used->stream, used->uid))
            continue;
        if (REAL(cuStreamSynchronize)(used->stream->handle) == CUDA_SUCCESS) {
            used->dirty = 0;
            here->dirty_count--;
        }
        objects_stream_unpin(used->stream);
    }
    if (REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD) == CUDA_SUCCESS)
        here->default_dirty = 0;
}

/* Only counts: what is owed stays owed. */
static void promise(struct thread_context *here)
{
    if (!have_lane(here)) {
        diag_once(DIAG_ERROR, "more than 64 threads hand over at once: the order of one's last work is lost");
        return;
    }
    if (here->default_dirty & OWED_THREADS)
        count(here, HANDED_DEFAULT);
    if ((here->default_dirty & OWED_JOINED) || here->dirty_count || here->unjoined)
        count(here, HANDED_JOINED);
}

/* Work that is done needs no wait. One question spares all other threads theirs: at a barrier each waits for each. The
 * event stands for `handed` already. */
static int is_over(struct lane *lane, int kind, uint64_t handed)
{
    if (handed <= __atomic_load_n(&lane->over[kind], __ATOMIC_RELAXED))
        return 1;
    uint64_t recorded =
        __atomic_load_n(&lane->recorded[kind], __ATOMIC_ACQUIRE); /* before asking: the event only moves on */
    if (capture_any() || !REAL(cuEventQuery) || REAL(cuEventQuery)(lane->event[kind]) != CUDA_SUCCESS)
        return 0;
    __atomic_store_n(&lane->over[kind], recorded, __ATOMIC_RELAXED);
    return 1;
}

/* Whether the lane's events stand for nothing that is still to be done, but for work of the thread itself. */
static int is_own(struct thread_context *here)
{
    struct lane *lane = lane_of(here);
    for (int kind = 0; here->lane_inherited && kind < HANDED_KINDS; kind++)
        if (lane->recorded[kind] != lane->handed[kind] || !is_over(lane, kind, lane->handed[kind]))
            return 0;
    here->lane_inherited = 0;
    return 1;
}

/* For the record alone: whoever takes over finds it done without asking, and writes that down. Nobody else can know. */
static void hand_over_done(struct thread_context *here, int kind, uint32_t owed)
{
    if ((here->default_dirty & owed) && record_on() && have_lane(here) && is_own(here))
        count_recorded(here, kind, clock_ticks(), 1);
}

/* Work that is done needs no event: mostly the program has waited for it. Asking is cheaper than an event, whose first
 * making would wait for everybody's kernels. */
static int is_done(struct thread_context *here)
{
    if (here->dirty_count || here->unjoined || capture_any() || !REAL(cuStreamQuery) ||
        REAL(cuStreamQuery)(CU_STREAM_PER_THREAD) != CUDA_SUCCESS)
        return 0;
    hand_over_done(here, HANDED_DEFAULT, OWED_THREADS);
    hand_over_done(here, HANDED_JOINED, OWED_JOINED);
    here->default_dirty &= ~(OWED_THREADS | OWED_JOINED);
    return 1;
}

static void publish(struct thread *thread, struct thread_context *here)
{
    if (capture_has_per_thread(thread)) {
        promise(here);
        return;
    }
    int entered = ordered_enter(here->context);
    if (entered < 0)
        return;
    if (is_done(here)) {
        ordered_leave(entered);
        return;
    }
    int published = !here->events_refused && REAL(cuEventCreate) && have_lane(here) && follow_predecessor(here) &&
                    record(here, HANDED_DEFAULT, OWED_THREADS) && join(here) && record(here, HANDED_JOINED, OWED_JOINED);
    if (!published)
        finish(here);
    ordered_leave(entered);
}

static int owes(const struct thread_context *here)
{
    return ((here->default_dirty & (OWED_THREADS | OWED_JOINED)) | here->dirty_count | here->unjoined) != 0;
}

void ordered_hand_over(struct thread *thread, int may_call)
{
    int saved = errno;
    for (struct thread_context *here = thread->contexts; here; here = here->next) {
        if (!owes(here) || here->context->gone)
            continue;
        if (may_call)
            publish(thread, here);
        else
            promise(here);
    }
    errno = saved;
}

static int wait_for(struct call *C, struct thread_context *here, struct lane *lane, int kind, uint64_t handed)
{
    uint32_t behind = __atomic_load_n(&lane->stream_uid[kind], __ATOMIC_RELAXED);
    uint64_t until = __atomic_load_n(&lane->until[kind], __ATOMIC_RELAXED); /* before the wait: the event only moves on */
    if (handed > __atomic_load_n(&lane->recorded[kind], __ATOMIC_ACQUIRE)) {
        if (!wait_for_all(here))
            return 0;
        behind = here->context->legacy_uid;
        until = C->enter;
    } else if (!is_over(lane, kind, handed) &&
               REAL(cuStreamWaitEvent)(CU_STREAM_PER_THREAD, lane->event[kind], 0) != CUDA_SUCCESS) {
        return 0;
    }
    record_edge(C, here->per_thread_uid, behind, until);
    return 1;
}

static int wait_for_kind(struct call *C, struct thread_context *here, const struct clocks *known, int kind)
{
    int waited = 1;
    for (uint64_t left = known->have[kind]; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        uint64_t handed = known->count[kind][i];
        /* Legacy order is within a context, and a thread's own is kept elsewhere. */
        if ((i + 1 == (int)here->lane && !here->lane_inherited) ||
            __atomic_load_n(&lanes[i].context_uid, __ATOMIC_ACQUIRE) != here->context_uid ||
            clocks_know(&here->waited, kind, i, handed))
            continue;
        if (wait_for(C, here, &lanes[i], kind, handed)) {
            clocks_set(&here->waited, kind, i, handed);
            here->default_dirty |= OWED_STREAMS;
        } else {
            waited = 0;
        }
    }
    return waited;
}

int ordered_take(struct call *C, struct thread_context *here, int kinds)
{
    const struct clocks *known = handover_known();
    uint32_t news = handover_self.news;
    if (capture_has_per_thread(C->thread))
        return 0;
    int saved = errno, entered = ordered_enter(here->context), waited = entered >= 0;
    for (int kind = 0; entered >= 0 && kind < kinds; kind++) {
        int kind_waited = wait_for_kind(C, here, known, kind);
        if (kind_waited)
            here->news[kind] = news;
        waited &= kind_waited;
    }
    ordered_leave(entered);
    errno = saved;
    return waited;
}

void ordered_after_fork(void)
{
    memset(lanes, 0, sizeof lanes);
    giving_out.held = 0;
}
