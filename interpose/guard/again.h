/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way of work on the default stream that its thread's lane has done before. For a policy that gives each thread
 * one lane.
 */
#ifndef PTDS_AGAIN_H
#define PTDS_AGAIN_H

#include "interpose/api/cuda_abi.h"
#include "interpose/guard/rails.h"
#include "interpose/state/call.h"

/* A launch that is not recorded needs no struct call. */
struct again {
    CUstream target; /* where it goes */
    struct thread *thread;
    unsigned lane;
    int gate;
};

/* 1: the launch goes to `target`, and guard_launched_again follows. 0: nothing was done, it takes the long way. */
int guard_launch_again(struct again *again, CUfunction function, void *const *params);
void guard_gate_back(struct thread *thread, unsigned lane);
static inline void guard_launched_again(const struct again *again)
{
    if (again->gate)
        guard_gate_back(again->thread, again->lane);
}

/* The same for a launch that is recorded; `word` gets what plain_launch_list lists. By value and small, so that the long
 * way can be jumped to. */
struct again_listed {
    const struct thread_context *here; /* NULL: nothing was done, it takes the long way */
    uint32_t kernel;
    uint16_t lane;
    uint8_t words, gate;
};
struct again_listed guard_launch_again_listed(struct thread *thread, CUfunction function, void *const *params,
                                              uint64_t *word);
static inline void guard_listed_launched_again(struct thread *thread, struct again_listed listed)
{
    if (listed.gate)
        guard_gate_back(thread, listed.lane);
}

static inline CUstream again_target(struct again_listed listed)
{
    return rails[listed.lane].handle;
}
static inline uint32_t again_target_uid(struct again_listed listed)
{
    return rails[listed.lane].uid;
}

/* The same for a call on stream 0 whose footprint is known: 1: C says where it goes. guard_leaving follows in both cases.
 */
int guard_work_again(struct call *C);

#endif
