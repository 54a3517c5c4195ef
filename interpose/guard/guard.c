/* SPDX-License-Identifier: Apache-2.0
 *
 * A call on its way through the guard: which lane, which waits, its turn; and after the call, what is known now. Called by
 * policies and by the wrappers. Must keep errno, hold no lock across a driver call, and hold no turn across a call that
 * blocks the host: somebody else may have to come in between, so that it ends.
 */
#include "interpose/guard/guard.h"

#include <errno.h>
#include <string.h>

#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/guard/events.h"
#include "interpose/guard/implicit.h"
#include "interpose/guard/kinds.h"
#include "interpose/guard/pool.h"
#include "interpose/guard/rails.h"
#include "interpose/state/capture.h"

_Static_assert((int)CALL_LANES == (int)ORDER_LANES, "a call has room for all lanes");

uint32_t guard_on;

struct guard_counts guard_counts(void)
{
    counts.too_wide = order.too_wide;
    return counts;
}

/* ---- a turn ---- */

/* What a call on a lane has to follow besides what touches its memory. */
static enum order_join join_of(const struct call *C, enum guard_kind kind, const struct guard_event *event)
{
    enum lane_kind lane = (enum lane_kind)order.lanes[C->guarded.lane]->kind;
    if (C->api == API_cuMemcpyPeer || C->api == API_cuMemcpy3DPeer)
        return JOIN_CONTEXTS;
    if (lane == LANE_NON_BLOCKING)
        return JOIN_NOTHING;
    if (kind == GUARD_RECORD)
        return event && event->timed ? JOIN_ALL : JOIN_HOST;
    return kind == GUARD_SYNC || kind == GUARD_QUERY || C->guarded.waits ? JOIN_HOST : JOIN_NOTHING;
}

/* What comes with the registered operation, still in the same step. */
static void register_more(struct call *C, const struct order_op *op, struct guard_event *event)
{
    struct guarded *guarded = &C->guarded;
    if (guarded->kind == GUARD_RECORD && event)
        order_event_recorded(&order, guarded->lane, &event->recorded);
    if (guarded->kind == GUARD_AWAIT && event)
        order_event_awaited(&order, guarded->lane, &event->recorded);
    if (op->join == JOIN_CONTEXTS)
        order_everywhere(&order, guarded->lane);
    const struct lane *lane = order.lanes[guarded->lane];
    guarded->until = lane->last;
    if (!guarded->waits)
        return;
    memcpy(guarded->real, lane->real, sizeof guarded->real);
    order_waits(&order, guarded->lane, &guarded->promise);
}

/* Locked; gives the lock up. The call has its turn when this returns. */
static void begin(struct call *C, unsigned lane, int work, const uint16_t *fully, unsigned fully_count)
{
    struct guarded *guarded = &C->guarded;
    struct guard_event *event = guarded->kind == GUARD_RECORD  ? guard_event_make(C->event)
                                : guarded->kind == GUARD_AWAIT ? guard_event_find(C->event)
                                                               : NULL;
    struct order_plan plan;
    uint32_t tickets[ORDER_LANES];
    guarded->lane = (uint16_t)lane;
    if (guarded->kind == GUARD_AWAIT && !event) /* of another process, or recorded past the shim */
        C->touched.opaque = OPAQUE_SEMAPHORE;
    struct order_op op = {.lane = (uint16_t)lane,
                          .join = (uint8_t)join_of(C, (enum guard_kind)guarded->kind, event),
                          .work = (uint8_t)work,
                          .touched = guarded->kind == GUARD_WORK || C->touched.opaque ? &C->touched : NULL,
                          .fully = fully,
                          .fully_count = (uint16_t)fully_count};
    order_add(&order, &op, &plan);
    register_more(C, &op, event);
    guarded->ticket = rails_ticket(lane);
    guarded->mark_after = plan.mark_after;
    if (plan.mark_first >= 0)
        rails[lane].marked_by[plan.mark_first] = guarded->ticket;
    if (plan.mark_after >= 0)
        rails[lane].marked_by[plan.mark_after] = guarded->ticket;
    rails_tickets(&plan, tickets);
    counts.operations++;
    lock_drop(&order_lock);
    guarded->turn = 1;
    rails_carry_out(C, lane, guarded->ticket, &plan, tickets);
}

static void end_turn(struct call *C)
{
    struct guarded *guarded = &C->guarded;
    if (!guarded->turn)
        return;
    guarded->turn = 0;
    int saved = errno;
    if (guarded->mark_after >= 0)
        rails_record_mark(guarded->lane, guarded->mark_after, guarded->ticket);
    rails_served(guarded->lane, guarded->ticket);
    errno = saved;
}

/* An asynchronous copy to pageable memory waits for its stream inside the driver (measured). It must not do so in its turn:
 * the host waits for what is there already, first. */
static int settles(const struct call *C)
{
    return C->op == PTDS_OP_COPY && C->guarded.kind == GUARD_WORK && (C->kinds & 15) <= PTDS_MEMORY_PAGEABLE &&
           (C->kinds >> 4) > PTDS_MEMORY_PAGEABLE;
}

static void done(struct call *C, CUresult result)
{
    struct guarded *guarded = &C->guarded;
    lock_take(&order_lock);
    if (result == CUDA_SUCCESS) {
        order_known(&order, &guarded->promise);
        order_done_with(&order, guarded->lane, guarded->until, guarded->real);
    }
    order_promise_drop(&guarded->promise);
    lock_drop(&order_lock);
    guarded->waits = 0;
}

/* So the host waits here as it would in the driver, and all that follows may rely on that. */
static void settle(struct call *C, unsigned lane, const uint16_t *fully, unsigned fully_count)
{
    int saved = errno;
    uint8_t waits = C->guarded.waits;
    C->guarded.waits = 1;
    lock_take(&order_lock);
    begin(C, lane, 0, fully, fully_count);
    end_turn(C);
    done(C, rails_host_wait(rails[lane].handle));
    C->guarded.waits = waits;
    C->guarded.settled = 1;
    errno = saved;
}

static void work_on(struct call *C, unsigned lane, const uint16_t *fully, unsigned fully_count)
{
    if (settles(C))
        settle(C, lane, fully, fully_count);
    lock_take(&order_lock);
    begin(C, lane, C->guarded.kind != GUARD_SYNC && C->guarded.kind != GUARD_QUERY, fully, fully_count);
}

/* ---- default-stream work ---- */

static int keep(struct call *C, uint32_t why)
{
    C->flags |= why;
    guard_legacy_work(C);
    return 0;
}

/* A wait after a synchronous form would invalidate a capture that this thread has open (measured: 901), and its copy must
 * not go uncaptured where the original would have been refused. */
static int refuses_implicit(struct call *C, int implicit)
{
    if (!implicit)
        return 0;
    if (capture_any())
        return PTDS_CALL_KEPT_CAPTURE;
    return implicit_has_async_form(C->api) ? 0 : PTDS_CALL_KEPT_NO_WAY;
}

static void go(struct call *C, unsigned lane, int implicit)
{
    C->target = rails[lane].handle;
    C->target_uid = rails[lane].uid;
    if (implicit)
        C->way = CALL_AS_ASYNC;
}

static unsigned choose_lane(const struct call *C, const uint16_t *lanes, unsigned count)
{
    const struct order_op op = {.lane = lanes[0],
                                .join = C->guarded.kind == GUARD_WORK ? JOIN_NOTHING : JOIN_ALL,
                                .work = 1,
                                .touched = &C->touched};
    lock_take(&order_lock);
    unsigned lane = order_choose(&order, &op, lanes, count);
    lock_drop(&order_lock);
    return lane;
}

/* What looks at the whole default stream of the thread comes after all of its lanes. */
static int looks_at_all(const struct call *C)
{
    return C->guarded.kind != GUARD_WORK || C->touched.opaque || C->guarded.waits;
}

int guard_default_work(struct call *C, int implicit, unsigned spread)
{
    struct thread_context *here = thread_in(C->thread, C->context);
    C->guarded.kind = (uint8_t)guard_kind_of(C);
    C->guarded.waits =
        implicit ? footprint_blocks_host(C) : C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY;
    if (C->guarded.kind == GUARD_NOTHING)
        return 1;
    int refused = refuses_implicit(C, implicit);
    if (refused)
        return keep(C, (uint32_t)refused);
    unsigned count = here && C->context->pool ? pool_lanes_of(here, spread) : 0;
    if (!count)
        return keep(C, PTDS_CALL_KEPT_NO_WAY);
    unsigned lane = count == 1 ? here->lanes[0] : choose_lane(C, here->lanes, count);
    work_on(C, lane, here->lanes, count > 1 && looks_at_all(C) ? count : 0);
    go(C, lane, implicit);
    return 1;
}

int guard_default_work_on(struct call *C, int implicit, struct stream *stream)
{
    C->guarded.kind = (uint8_t)guard_kind_of(C);
    C->guarded.waits =
        implicit ? footprint_blocks_host(C) : C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY;
    if (C->guarded.kind == GUARD_NOTHING)
        return 1;
    int refused = refuses_implicit(C, implicit);
    if (refused)
        return keep(C, (uint32_t)refused);
    lock_take(&order_lock);
    int lane = rails_of_stream(stream, C->context);
    if (lane >= 0)
        order.lanes[lane]->kind = LANE_DEFAULT;
    lock_drop(&order_lock);
    if (lane < 0)
        return keep(C, PTDS_CALL_KEPT_NO_WAY);
    work_on(C, (unsigned)lane, NULL, 0);
    go(C, (unsigned)lane, implicit);
    return 1;
}

void guard_finish_implicit(struct call *C)
{
    if (!C->guarded.waits)
        return;
    CUresult result = rails_host_wait(C->target);
    C->flags |= PTDS_CALL_SHIM_WAIT;
    if (result != CUDA_SUCCESS)
        C->result = result; /* the original would have reported what went wrong before it, too */
}

/* ---- other work ---- */

/* The real legacy stream waits for everything when the host waits for it, and in a blocking capture its calls fail. */
void guard_legacy_work(struct call *C)
{
    C->guarded.kind = (uint8_t)guard_kind_of(C);
    C->guarded.waits = 0;
    if (!pool_of(C->context) || capture_blocks_legacy(C->context) || C->guarded.kind == GUARD_NOTHING ||
        C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY) {
        C->guarded.kind = GUARD_NOTHING;
        return;
    }
    int saved = errno;
    if ((C->flags & PTDS_CALL_IMPLICIT) && footprint_blocks_host(C) && !capture_any())
        rails_host_wait(CU_STREAM_LEGACY);
    errno = saved;
    lock_take(&order_lock);
    int lane = pool_legacy_lane(C->context);
    if (lane >= 0)
        begin(C, (unsigned)lane, 1, NULL, 0);
    else
        lock_drop(&order_lock);
}

/* Waiting for an event of a capture takes a stream into it: what was on it before is marked first. */
static int joins_capture(struct call *C)
{
    if (!capture_any() || C->guarded.kind != GUARD_AWAIT || !capture_has_event(C->event))
        return 0;
    guard_capture_takes(C->stream);
    return 1;
}

void guard_stream_work(struct call *C)
{
    struct stream *stream = C->stream;
    C->guarded.kind = (uint8_t)guard_kind_of(C);
    C->guarded.waits = C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY;
    if (C->guarded.kind == GUARD_NOTHING || stream->capturing || !stream->context || !pool_of(stream->context) ||
        joins_capture(C)) {
        C->guarded.kind = GUARD_NOTHING;
        return;
    }
    lock_take(&order_lock);
    int lane = rails_of_stream(stream, stream->context);
    lock_drop(&order_lock);
    if (lane >= 0)
        work_on(C, (unsigned)lane, NULL, 0);
    else
        C->guarded.kind = GUARD_NOTHING;
}

void guard_per_thread_work(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    C->guarded.kind = (uint8_t)guard_kind_of(C);
    C->guarded.waits = C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY;
    if (C->guarded.kind == GUARD_NOTHING || !here || !pool_of(C->context) || capture_has_per_thread(C->thread)) {
        C->guarded.kind = GUARD_NOTHING;
        return;
    }
    if (!here->own_lane) {
        lock_take(&order_lock);
        int lane = rails_open(LANE_BLOCKING, C->context, CU_STREAM_PER_THREAD, here->per_thread_uid, 1);
        here->own_lane = (uint16_t)(lane + 1);
        lock_drop(&order_lock);
    }
    if (here->own_lane)
        work_on(C, here->own_lane - 1u, NULL, 0);
    else
        C->guarded.kind = GUARD_NOTHING;
}

/* ---- captures ---- */

void guard_capture_takes(struct stream *stream)
{
    struct order_plan plan;
    if (!guard_on || !stream || !stream->lane)
        return;
    int saved = errno;
    lock_take(&order_lock);
    int lane = rails_has_stream(stream);
    if (lane < 0) {
        lock_drop(&order_lock);
        return;
    }
    order_lane_close(&order, (unsigned)lane, &plan);
    uint32_t ticket = rails_ticket((unsigned)lane);
    if (plan.mark_first >= 0)
        rails[lane].marked_by[plan.mark_first] = ticket;
    plan.count = 0;
    lock_drop(&order_lock);
    rails_await_turn((unsigned)lane, ticket);
    if (plan.mark_first >= 0)
        rails_record_mark((unsigned)lane, plan.mark_first, ticket);
    rails_served((unsigned)lane, ticket);
    errno = saved;
}

/* ---- around every call ---- */

/* What is on its way into the driver at this moment is not waited for. */
static void all_begun(struct call *C)
{
    struct context *context = objects_context_now(C->thread);
    if (C->api != API_cuCtxSynchronize || !context->pool)
        return;
    memset(C->guarded.real, 0, sizeof C->guarded.real);
    lock_take(&order_lock);
    for (unsigned i = 0; i < order.high; i++) {
        if (order.lanes[i]->open && order.lanes[i]->domain == context->domain - 1 && rails_is_idle(i))
            C->guarded.real[i] = order.lanes[i]->last;
    }
    lock_drop(&order_lock);
    C->guarded.begun = 1;
}

static void all_done(struct call *C)
{
    lock_take(&order_lock);
    for (unsigned i = 0; i < order.high; i++)
        order_done(&order, i, C->guarded.real[i]);
    lock_drop(&order_lock);
}

/* Another thread may record the event anew while this one waits for it. */
static void event_begun(struct call *C)
{
    const struct guard_event *event = guard_event_find(C->event);
    C->guarded.until = event ? event->recorded.at : 0;
    C->guarded.begun = 1;
}

static void event_done(struct call *C)
{
    struct guard_event *event = guard_event_find(C->event);
    if (!event)
        return;
    lock_take(&order_lock);
    if (event->recorded.at == C->guarded.until)
        order_event_done(&order, &event->recorded);
    lock_drop(&order_lock);
}

void guard_enter(struct call *C)
{
    if (C->op == PTDS_OP_EVENT_DESTROY && C->event)
        guard_event_gone(C->event);
    else if (C->op == PTDS_OP_STREAM_DESTROY && C->stream)
        guard_capture_takes(C->stream);
    else if (C->op == PTDS_OP_CTX_SYNC)
        all_begun(C);
    else if (C->event && C->guarded.kind == GUARD_NOTHING)
        event_begun(C);
    /* What the host waits for is no turn: others must be able to go on. */
    if (C->guarded.kind == GUARD_SYNC)
        end_turn(C);
}

/* The copy to pageable memory is done when the driver returns. */
static void copied(const struct call *C)
{
    lock_take(&order_lock);
    order_done(&order, C->guarded.lane, C->guarded.until);
    lock_drop(&order_lock);
}

void guard_leave(struct call *C)
{
    end_turn(C);
    if (C->guarded.waits && C->way == CALL_AS_IS)
        done(C, C->result);
    if (C->guarded.settled && C->result == CUDA_SUCCESS)
        copied(C);
    if (C->guarded.kind == GUARD_RECORD && C->result != CUDA_SUCCESS)
        guard_event_unrecorded(C->event);
}

static void stream_made(const struct call *C)
{
    if (C->word[0] & CU_STREAM_NON_BLOCKING)
        __atomic_add_fetch(&order.free_running, 1, __ATOMIC_RELAXED);
}

static void made_memory(struct call *C)
{
    lock_take(&order_lock);
    order_touch(&order, C->guarded.lane, &C->touched);
    lock_drop(&order_lock);
}

void guard_late(struct call *C)
{
    if (C->guarded.waits) /* an implicit form, and its wait */
        done(C, C->result);
    if (C->result != CUDA_SUCCESS)
        return;
    switch (C->op) {
    case PTDS_OP_EVENT_CREATE: guard_event_created((CUevent)C->word[1], (unsigned)C->word[0]); break;
    case PTDS_OP_STREAM_CREATE: stream_made(C); break;
    case PTDS_OP_CTX_SYNC:
        if (C->guarded.begun)
            all_done(C);
        break;
    case PTDS_OP_EVENT_SYNC:
    case PTDS_OP_EVENT_QUERY:
    case PTDS_OP_EVENT_ELAPSED:
        if (C->guarded.begun)
            event_done(C);
        break;
    case PTDS_OP_ALLOC_ASYNC:
        if (C->guarded.kind == GUARD_WORK)
            made_memory(C);
        break;
    case PTDS_OP_CTX_DESTROY:
        if (C->context && C->context->gone)
            pool_context_gone(C->context);
        break;
    default: break;
    }
}

void guard_thread_ends(struct thread *thread)
{
    for (struct thread_context *here = thread->contexts; here; here = here->next)
        pool_thread_gone(here);
}

void guard_after_fork(void)
{
    order_lock.held = 0;
    memset(rails, 0, sizeof rails);
    order_reset(&order);
    guard_events_after_fork();
    pool_after_fork();
}
