/* SPDX-License-Identifier: Apache-2.0
 *
 * A planned program carried out (act.c) by threads that take turns (turns.c). Included by the files of random_turns.
 */
#ifndef APPS_RANDOM_ACT_H
#define APPS_RANDOM_ACT_H

#include <stdatomic.h>

#include "plan.h"
#include "tests/apps/app.h"

struct world {
    struct app app;
    CUfunction fill, copy, add, spin_add, empty;
    CUdeviceptr memory[MEMS]; /* as the device names it */
    uint32_t *host[MEMS];     /* NULL where the host cannot touch it */
    uint32_t *flags;
    CUdeviceptr device_flags;
    CUstream streams[STREAMS_MOST];
    CUevent events[EVENTS];
    CUgraphExec graphs[GRAPHS];
    unsigned most_us; /* the longest spin */
    struct plan *plan;
    atomic_uint turn;          /* the only thing by which the threads tell each other anything */
    atomic_uint seed, current; /* for the watchdog: the operation that is being made */
};

extern struct world world;

void act_start(void);       /* once: streams, events, memory */
void act_begin(void);       /* for each seed: memory as it is at first */
void act_end(void);         /* graphs and the like go */
void act(struct op *op);    /* in the thread whose turn it is */
void turns_run(void);       /* the whole plan */
void turns_say_where(void); /* of a plan that hangs: each of its threads prints its stack */

#endif
