/* SPDX-License-Identifier: Apache-2.0
 *
 * A call on its way through the guard: on which lane, and what else it is. Called by policies. Must keep errno.
 */
#include "interpose/guard/guard.h"

#include <errno.h>

#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/operations/blocks_host.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/lanes_auto.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/register.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/order_choose.h"
#include "interpose/guard/implicit.h"
#include "interpose/guard/object_changes.h"
#include "interpose/state/capture.h"

/* ---- default-stream work ---- */

static int keep(struct call *C, uint32_t why)
{
    C->flags |= why;
    guard_legacy_work(C);
    return 0;
}

/* A wait after a synchronous form would invalidate a capture that this thread has open (measured: 901), and its copy must
 * not go uncaptured where the original would have been refused. */
static uint32_t refuses_implicit(const struct call *C, int implicit)
{
    if (!implicit)
        return 0;
    if (capture_any())
        return PTDS_CALL_KEPT_CAPTURE;
    return !C->other && implicit_has_async_form(C->api) ? 0 : PTDS_CALL_KEPT_NO_WAY;
}

/* Waiting for an event of a capture takes a stream into it, which the legacy stream refuses. */
static int joins_capture(const struct call *C)
{
    return C->guarded.kind == GUARD_AWAIT && capture_has_event(C->event);
}

static void classify(struct call *C, int implicit)
{
    enum guard_kind kind = kinds_of(C);
    C->guarded.kind = (uint8_t)kind;
    C->guarded.waits = (uint8_t)(implicit ? blocks_host(C) : kind == GUARD_SYNC || kind == GUARD_QUERY);
    if (kind == GUARD_NOTHING)
        register_none(C);
}

static unsigned choose_lane(const struct call *C, const uint16_t *lanes, unsigned count)
{
    const struct order_op op = {.lane = lanes[0],
                                .join = C->guarded.kind == GUARD_WORK ? JOIN_NOTHING : JOIN_ALL,
                                .work = 1,
                                .touched = &C->touched};
    lock_take(&guard_state.lock);
    unsigned lane = order_choose(&guard_state.order, &op, lanes, count);
    lock_drop(&guard_state.lock);
    return lane;
}

/* What looks at the whole default stream of the thread comes after all of its lanes. */
static int looks_at_all(const struct call *C)
{
    return C->guarded.kind != GUARD_WORK || C->touched.opaque || C->guarded.waits || C->event;
}

/* The default stream is busy as long as any blocking stream is: the real one says so, of the lanes, too. */
static int asks_legacy(const struct call *C, const struct where *where)
{
    if (C->guarded.kind != GUARD_QUERY)
        return 0;
    return where->stream ? where->stream->kind == PTDS_STREAM_BLOCKING : !C->context->pool->apart;
}

static int go(struct call *C, int implicit, const struct where *where)
{
    int lane = register_begin(C, where);
    if (lane < 0)
        return keep(C, PTDS_CALL_KEPT_NO_WAY);
    if (asks_legacy(C, where))
        return 1; /* the stream that was named */
    C->target = issue_lanes[lane].handle;
    C->target_uid = issue_lanes[lane].uid;
    if (implicit)
        C->way = CALL_AS_ASYNC;
    return 1;
}

static __attribute__((noinline)) int default_work(struct call *C, int implicit, unsigned spread,
                                                  struct thread_context *here)
{
    classify(C, implicit);
    if (C->guarded.kind == GUARD_NOTHING)
        return 1;
    uint32_t refused = joins_capture(C) ? PTDS_CALL_KEPT_CAPTURE : refuses_implicit(C, implicit);
    if (refused)
        return keep(C, refused);
    if (!spread && here)
        spread = lanes_auto_spread(C, here);
    unsigned count = here && C->context->pool ? pool_lanes_of(here, spread) : 0;
    count = count < spread ? count : spread;
    if (!count)
        return keep(C, PTDS_CALL_KEPT_NO_WAY);
    const struct where where = {.on = ON_LANE,
                                .lane = count == 1 ? here->lanes[0] : choose_lane(C, here->lanes, count),
                                .here = here,
                                .gathers = spread == 1 && C->guarded.kind == GUARD_WORK,
                                .fully = here->lanes,
                                .fully_count = count > 1 && looks_at_all(C) ? count : 0};
    return go(C, implicit, &where);
}

/* What the thread has done before goes first, and saves no registers for the rest. */
int guard_default_work(struct call *C, int implicit, unsigned spread)
{
    struct thread_context *here = thread_in(C->thread, C->context);
    if (implicit || spread > 1 || !here || !here->lane_count || here->measured || !turn_again(C, here))
        return default_work(C, implicit, spread, here);
    const struct issue_lane *issuing = &issue_lanes[here->lanes[0]];
    C->guarded.kind = GUARD_WORK;
    C->target = issuing->handle;
    C->target_uid = issuing->uid;
    return 1;
}

int guard_default_work_on(struct call *C, int implicit, struct stream *stream)
{
    const struct where where = {.on = ON_STREAM_AS_DEFAULT, .stream = stream, .context = C->context};
    classify(C, implicit);
    if (C->guarded.kind == GUARD_NOTHING)
        return 1;
    uint32_t refused = joins_capture(C) ? PTDS_CALL_KEPT_CAPTURE : refuses_implicit(C, implicit);
    return refused ? keep(C, refused) : go(C, implicit, &where);
}

void guard_finish_implicit(struct call *C)
{
    if (!C->guarded.waits)
        return;
    CUresult result = host_waits_for_stream_as_program(C->target);
    C->flags |= PTDS_CALL_SHIM_WAIT;
    if (result != CUDA_SUCCESS)
        C->result = result; /* the original would have reported what went wrong before it, too */
}

/* ---- when no lane is left ---- */

int guard_all_is_done(const struct call *C)
{
    const struct context *context = C->stream ? C->stream->context : C->context;
    int saved = errno, entered = context ? issue_enter_context(context) : -1;
    int done = entered >= 0 && (capture_any() ? host_waits_in_capture(context)
                                              : REAL(cuCtxSynchronize) && REAL(cuCtxSynchronize)() == CUDA_SUCCESS);
    issue_leave_context(entered);
    if (!done)
        diag_once(DIAG_ERROR, "the host cannot wait for all work that has no lane: results may be wrong");
    errno = saved;
    return done;
}

/* The host waits before the call and after it: slow, and right. */
static void alone(struct call *C)
{
    int works = C->guarded.kind != GUARD_SYNC && C->guarded.kind != GUARD_QUERY;
    diag_once(DIAG_ERROR, "more streams and threads at once than legacy order can be kept for by events: the host waits");
    C->guarded.alone = works && guard_all_is_done(C);
    if (C->guarded.kind == GUARD_RECORD)
        program_event_unrecorded(C->event); /* all that it stands for is done */
    register_none(C);
}

void guard_finish_alone(struct call *C)
{
    C->guarded.alone = 0;
    if (capture_any())
        ASK(host_waits_for_stream(C->target)); /* it has no lane itself */
    else
        guard_all_is_done(C);
}

/* ---- other work ---- */

/* A synchronous form that goes as it is: the host waits inside the driver, so it waits here first, out of its turn. */
static void begin_as_is(struct call *C, const struct where *where)
{
    if ((C->flags & PTDS_CALL_IMPLICIT) && !turn_settles(C) && blocks_host(C))
        register_and_wait(C, where); /* else it comes with the turn */
    if (register_begin(C, where) < 0)
        alone(C);
}

/* In a blocking capture calls on the legacy stream fail, and nothing of ours may touch it. */
void guard_legacy_work(struct call *C)
{
    const struct where where = {.on = ON_LEGACY, .context = C->context};
    classify(C, 0);
    if (C->guarded.kind == GUARD_NOTHING || !pool_of(C->context) || capture_blocks_legacy(C->context) || joins_capture(C))
        register_none(C);
    else
        begin_as_is(C, &where);
}

/* An event that a graph's launch will record, whenever that is; also where it comes with a captured kernel. */
static void recorded_in_capture(const struct call *C)
{
    if (C->event && (C->guarded.kind == GUARD_RECORD || C->guarded.kind == GUARD_WORK))
        program_event_recorded_elsewhere(C->event);
}

void guard_stream_work(struct call *C)
{
    const struct where where = {.on = ON_STREAM, .stream = C->stream, .context = C->stream->context};
    classify(C, 0);
    if (C->stream->capturing)
        recorded_in_capture(C);
    else if (joins_capture(C))
        object_changes_capture_takes(C->stream); /* what was on it before is marked */
    else if (C->guarded.kind != GUARD_NOTHING && where.context && pool_of(where.context)) {
        if (__builtin_expect(C->stream->taken, 0)) /* the driver refused the capture */
            __atomic_store_n(&C->stream->taken, 0, __ATOMIC_RELEASE);
        if (register_begin(C, &where) < 0)
            alone(C);
        return;
    }
    register_none(C);
}

void guard_per_thread_work(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    const struct where where = {.on = ON_OWN, .context = C->context, .here = here};
    int captured = capture_has_per_thread(C->thread);
    classify(C, 0);
    if (captured)
        recorded_in_capture(C);
    if (C->guarded.kind == GUARD_NOTHING || !here || !pool_of(C->context) || captured || joins_capture(C))
        register_none(C);
    else
        begin_as_is(C, &where);
}
