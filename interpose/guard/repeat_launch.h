/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way of work on the default stream that its thread's lane has done before. For a policy that gives each thread
 * one lane.
 */
#ifndef PTDS_REPEAT_LAUNCH_H
#define PTDS_REPEAT_LAUNCH_H

#include "interpose/api/cuda_abi.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/state/call.h"

/* A launch that is not recorded needs no struct call. */
struct repeat_launch {
    CUstream target; /* where it goes */
    struct thread *thread;
    unsigned lane;
    int gate;
};

/* 1: the launch goes to `target`, and guard_launched_again follows. 0: nothing was done, it takes the long way. */
int repeat_launch_go(struct repeat_launch *again, CUfunction function, void *const *params);
void repeat_launch_gone(struct thread *thread, unsigned lane);
static inline void guard_launched_again(const struct repeat_launch *again)
{
    if (again->gate)
        repeat_launch_gone(again->thread, again->lane);
}

/* The same for a launch that is recorded; `word` gets what kernels_list_plainly lists. By value and small, so that the long
 * way can be jumped to. */
struct repeat_launch_listed {
    const struct thread_context *here; /* NULL: nothing was done, it takes the long way */
    uint32_t kernel;
    uint16_t lane;
    uint8_t words, gate;
};
struct repeat_launch_listed repeat_launch_go_listed(struct thread *thread, CUfunction function, void *const *params,
                                                    uint64_t *word);
static inline void guard_listed_launched_again(struct thread *thread, struct repeat_launch_listed listed)
{
    if (listed.gate)
        repeat_launch_gone(thread, listed.lane);
}

static inline CUstream again_target(struct repeat_launch_listed listed)
{
    return issue_lanes[listed.lane].handle;
}
static inline uint32_t again_target_uid(struct repeat_launch_listed listed)
{
    return issue_lanes[listed.lane].uid;
}

/* The same for a call on stream 0 whose footprint is known: 1: C says where it goes. around_call_leaving follows in both
 * cases.
 */
int repeat_launch_work(struct call *C);

#endif
