/* SPDX-License-Identifier: Apache-2.0
 *
 * What every wrapper does before and after the real call.
 */
#ifndef PTDS_ENTER_H
#define PTDS_ENTER_H

#include <errno.h>

#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/policy.h"
#include "interpose/record/device/device_times.h"
#include "interpose/record/recorder.h"
#include "interpose/state/call.h"

/* How a wrapper goes on. */
enum enter {
    ENTER_ABSENT, /* no such function: return C->result */
    ENTER_PASS,   /* call the real function and do nothing else */
    ENTER_FULL
};

/* Fills in C for a call of row api that returns to `caller`, a return address that lies at `frame`. */
enum enter enter_call(struct call *C, uint16_t api, int twin, const void *caller, const void *const *frame);

/* A recorded call that may block. */
void enter_timed(struct call *C);

/* The last thing before the real call, and the last thing after it. */
static inline void enter_real(struct call *C)
{
    if ((C->flags & PTDS_CALL_TIMED) && C->enter)
        enter_timed(C);
    around_call_entering(C);
    if (__builtin_expect(device_times_on, 0))
        device_times_before(C);
    if (__builtin_expect(C->other, 0))
        C->thread->inside = C->api + 1u;
}

/* Right after it. */
static inline void leave_real(struct call *C)
{
    if (__builtin_expect(C->other, 0))
        C->thread->inside = 0;
    if (__builtin_expect(C->sample != NULL, 0))
        device_times_after(C);
    around_call_leaving(C);
}

/* Before all else, where the host could tell by the call that promised work is pending: waits for that work. */
static inline void settle_first(struct call *C)
{
    if (guard_on)
        wait_deferred_all(C);
}

/* The driver was out of memory: waits for work whose wait was deferred, which may give memory back. 1: there was such work.
 */
int enter_waits_deferred(struct call *C, int programs_errno);

/* The real call is made a second time. */
static inline void enter_again(struct call *C)
{
    around_call_entering(C);
    if (__builtin_expect(device_times_on, 0))
        device_times_before(C);
}

/* In a forked child: recording starts anew. */
void enter_after_fork(void);

static inline void leave_call(struct call *C)
{
    around_call_late(C);
    if (C->enter)
        recorder_call(C);
}

/* After an implicit call: the host wait that the original function promises. */
static inline void leave_implicit(struct call *C)
{
    if (C->way != CALL_AS_IS && C->result == CUDA_SUCCESS && guard_on) {
        int saved = errno;
        guard_finish_implicit(C);
        errno = saved;
    }
}

#endif
