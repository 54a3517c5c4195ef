/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of every wrapper. The hot path: must not lock, allocate (but on a thread's first call), or lose errno.
 */
#include "interpose/doors/enter.h"

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/doors/doors.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/doors/lifecycle.h"
#include "interpose/record/log.h"
#include "interpose/record/record.h"

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

/* Apart, so that other calls save no registers for it. */
static __attribute__((cold, noinline)) enum enter first_time(struct call *C)
{
    int found = door_open();
    if (!found || !driver_real[C->api][C->twin])
        return absent(C, found);
    if (door_passes(C->api))
        return ENTER_PASS;
    lifecycle_start();
    /* Look-ups and cuInit alone leave no trace: many programs ask whether there is a GPU and go on without. */
    if (!record_on() && api_rows[C->api].class_ != PTDS_CLASS_ENTRY)
        record_start();
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
    if (__builtin_expect(!__atomic_load_n(&started, __ATOMIC_ACQUIRE) || !driver_real[api][twin], 0)) {
        enum enter enter = first_time(C);
        if (enter != ENTER_FULL)
            return enter;
        if (record_running || !env_get()->recording)
            __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    C->thread = thread_get();
    if (__builtin_expect(!C->thread, 0))
        return ENTER_PASS;
    C->context = NULL;
    C->stream = NULL;
    C->target = NULL;
    C->stream_uid = C->target_uid = C->object = C->generation = C->stack = 0;
    C->op = C->kinds = C->words = 0;
    C->edges = 0;
    C->event = NULL;
    C->guarded.kind = C->guarded.turn = C->guarded.gate = C->guarded.again = C->guarded.waits = C->guarded.settled =
        C->guarded.begun = C->guarded.alone = 0;
    C->guarded.promise.reach = (struct reach){0};
    C->sample = NULL;
    C->leaving = NULL;
    C->touched.count = 0;
    C->touched.opaque = C->touched.host = 0;
    int recording = record_on();
    C->footprint = (uint8_t)(recording || policy_current()->wants_footprint);
    C->enter = recording ? clock_ticks() : 0;
    if (recording && C->flags & PTDS_CALL_TIMED)
        record_begun(C);
    return ENTER_FULL;
}

void enter_timed(struct call *C)
{
    if (__builtin_expect(log_on(), 0))
        log_entering(C);
    record_waits(C);
}

/* Cold: the call has failed. What that left in errno the program's call would not have. */
__attribute__((cold)) int settles_for(struct call *C, int programs_errno)
{
    if (!guard_settle_lacking(C))
        return 0;
    errno = programs_errno;
    return 1;
}
