/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way of default-stream work that its thread's lane has done before: no registration, no wait. Called by the
 * wrappers. Must not lock, allocate, or let anything go that policy.c and guard.c would not.
 */
#include "interpose/guard/repeat_launch.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/launches/plain_launch.h"
#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/state/capture.h"

/* The context is still the thread's current one. */
static inline int is_here(const struct thread_context *here)
{
    CUcontext handle;
    const struct context *context = here->context;
    return driver.cuCtxGetCurrent(&handle) == CUDA_SUCCESS && context->handle == handle && !context->gone &&
           context->uid == here->context_uid && context->kind != PTDS_CONTEXT_GREEN;
}

/* The calling thread in its context, as it was at its last call; NULL where anything is not as usual. What costs least and
 * says no most often comes first. */
static inline __attribute__((always_inline)) struct thread_context *as_before(struct thread *thread)
{
    struct thread_context *here = thread->last_context;
    int may = here && here->lane_count && !here->measured && !capture_any() && turn_may_go_again(thread, here);
    return may && is_here(here) ? here : NULL;
}

/* What no repeat right covers will be registered. */
static inline int goes(struct thread *thread, unsigned lane, const struct touched *touched)
{
    int goes = turn_goes_again(thread, lane, touched);
    thread->missed = !goes;
    return goes;
}

int repeat_launch_go(struct repeat_launch *again, CUfunction function, void *const *params)
{
    struct thread *thread = thread_self;
    if (!thread || thread->fork_generation != thread_fork_generation)
        return 0;
    const struct kernel *kernel = kernel_table_met(thread, function);
    const struct thread_context *here = kernel ? as_before(thread) : NULL;
    if (!here)
        return 0;
    struct touched touched;
    touched.count = touched.opaque = touched.host = 0;
    unsigned lane = here->lanes[0];
    if (!(plain_launch_touches_nothing(kernel, params) || plain_launch_touch(thread, kernel, params, &touched)) ||
        !goes(thread, lane, &touched))
        return 0;
    *again = (struct repeat_launch){issue_lanes[lane].handle, thread, lane, touched.count != 0};
    return 1;
}

void repeat_launch_gone(struct thread *thread, unsigned lane)
{
    turn_gone_again(thread, lane, 1);
}

struct repeat_launch_listed repeat_launch_go_listed(struct thread *thread, CUfunction function, void *const *params,
                                                    uint64_t *word)
{
    const struct repeat_launch_listed no = {NULL, 0, 0, 0, 0};
    const struct kernel *kernel = kernel_table_met(thread, function);
    const struct thread_context *here = kernel ? as_before(thread) : NULL;
    if (!here)
        return no;
    struct touched touched;
    touched.count = touched.opaque = touched.host = 0;
    unsigned words = plain_launch_list(thread, kernel, params, &touched, word);
    if (!words || !goes(thread, here->lanes[0], &touched))
        return no;
    return (struct repeat_launch_listed){here, kernel->uid, here->lanes[0], (uint8_t)words, touched.count != 0};
}

int repeat_launch_work(struct call *C)
{
    struct thread *thread = C->thread;
    const struct thread_context *here = !thread->missed && turn_is_plain(C) ? as_before(thread) : NULL;
    if (!here || !goes(thread, here->lanes[0], &C->touched))
        return 0;
    const struct issue_lane *issuing = &issue_lanes[here->lanes[0]];
    C->guarded.kind = GUARD_WORK;
    C->guarded.again = 1;
    C->guarded.lane = here->lanes[0];
    C->guarded.gate = C->touched.count != 0;
    C->flags |= PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    C->context = here->context;
    C->stream_uid = here->context->legacy_uid;
    C->target = issuing->handle;
    C->target_uid = issuing->uid;
    return 1;
}
