/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of every wrapper. The hot path: must not lock, allocate (but on a thread's first call), or lose errno.
 */
#include "interpose/doors/enter.h"

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/doors/door.h"
#include "interpose/doors/lifecycle.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/env/env.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/record/log.h"
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
#include "interpose/record/threads.h"

/* Reached by ELF binding only: a lookup would not have found the function. */
static enum enter absent(struct call *C, int driver_found)
{
    C->result = driver_found ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_NO_DEVICE;
    if (driver_found)
        diag_once(DIAG_ERROR, "this driver has no ", api_rows[C->api].symbol, "; the program calls it");
    return ENTER_ABSENT;
}

static uint32_t started; /* first_time() has nothing left to do: recording runs, or is not wanted */

void enter_after_fork(void)
{
    started = 0;
}

/* A call by the exported name goes to the function that the program's search order has behind the shim's. */
static void find_real(struct call *C)
{
    void *others = others_linked ? others_function[C->api][C->twin] : NULL;
    others_linked = 0;
    C->other = others != NULL;
    C->real = others ? others : driver_real[C->api][C->twin];
}

/* Another library's function, in front of the driver's, makes this call while it is called itself: the call goes on as it
 * would without the shim, which has seen to the outer call. No turn may be held if the host may wait. */
static __attribute__((cold, noinline)) enum enter from_inside(struct call *C)
{
    if (C->thread->inside != C->api + 1u)
        turn_give_up(C->thread);
    return ENTER_PASS;
}

/* Apart, so that other calls save no registers for it. */
static __attribute__((cold, noinline)) enum enter first_time(struct call *C)
{
    int found = door_open();
    find_real(C);
    if (!C->real)
        return absent(C, found);
    if (!found || !driver_real[C->api][C->twin] || door_passes(C->api))
        return ENTER_PASS;
    lifecycle_start();
    /* Look-ups and cuInit alone leave no trace: many programs ask whether there is a GPU and go on without. */
    if (!recorder_on() && api_rows[C->api].class_ != PTDS_CLASS_ENTRY)
        start_recording();
    return ENTER_FULL;
}

enum enter enter_call(struct call *C, uint16_t api, int twin, const void *caller, const void *const *frame)
{
    C->api = api;
    C->twin = (uint8_t)twin;
    C->way = CALL_AS_IS;
    C->flags = (twin ? PTDS_CALL_TWIN : 0u) | (api_rows[api].timed ? PTDS_CALL_TIMED : 0u);
    C->caller = caller;
    C->frame = frame;
    C->other = 0;
    C->real = driver_real[api][twin];
    if (__builtin_expect(!__atomic_load_n(&started, __ATOMIC_ACQUIRE) || !C->real || others_linked, 0)) {
        enum enter enter = first_time(C);
        if (enter != ENTER_FULL)
            return enter;
        if (recorder_running || !env_get()->recording)
            __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    C->thread = thread_get();
    if (__builtin_expect(!C->thread, 0))
        return ENTER_PASS;
    if (__builtin_expect(C->thread->inside, 0))
        return from_inside(C);
    C->context = NULL;
    C->stream = NULL;
    C->target = NULL;
    C->stream_uid = C->target_uid = C->object = C->generation = C->stack = 0;
    C->op = C->kinds = C->words = 0;
    C->edges = 0;
    C->event = NULL;
    C->guarded.kind = C->guarded.turn = C->guarded.gate = C->guarded.again = C->guarded.waits = C->guarded.settled =
        C->guarded.begun = C->guarded.alone = 0;
    C->guarded.promise.limits = (struct lane_limits){0};
    C->sample = NULL;
    C->leaving = NULL;
    C->touched.count = 0;
    C->touched.opaque = C->touched.host = 0;
    int recording = recorder_on();
    C->footprint = (uint8_t)(recording || policy_current()->wants_footprint);
    C->enter = recording ? clock_ticks() : 0;
    if (recording && C->flags & PTDS_CALL_TIMED)
        threads_call_begun(C);
    return ENTER_FULL;
}

void enter_timed(struct call *C)
{
    if (__builtin_expect(log_on(), 0))
        log_entering(C);
    threads_call_waits(C);
}

/* Cold: the call has failed. Gives errno the program's value again. */
__attribute__((cold)) int enter_waits_deferred(struct call *C, int programs_errno)
{
    if (!wait_deferred_where_lacking(C))
        return 0;
    errno = programs_errno;
    return 1;
}
