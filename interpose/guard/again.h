/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way of work on the default stream that its thread's lane has done before. For a policy that gives each thread
 * one lane.
 */
#ifndef PTDS_AGAIN_H
#define PTDS_AGAIN_H

#include "interpose/api/cuda_abi.h"
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
void guard_launched_again(const struct again *again);

/* The same for a call on stream 0 whose footprint is known: 1: C says where it goes. guard_leaving follows in both cases.
 */
int guard_work_again(struct call *C);

#endif
