/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's hardware queues, shared between the program's streams and the lanes. Called by the guard under its lock, and
 * by policies. Must ask no driver.
 *
 * Measured (docs/queues.md; H200, 580.159.04): a context has as many queues for kernels as CUDA_DEVICE_MAX_CONNECTIONS said
 * when the driver was initialised, 8 where it said nothing. A stream takes one when it gets work and keeps it while work is
 * pending, whichever is free: order of creation, first use and kind of stream do not matter. A stream whose work waits
 * blocks its queue, so nothing of the context begins any more once as many streams wait as there are queues. Without the
 * shim all default-stream work is one stream of those; each lane beyond the first is one that the program does not know of.
 */
#include "interpose/guard/decide/queue_share.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>


enum { QUEUES_OF_DRIVER = 8, QUEUES_AT_MOST = 32 };
#define VARIABLE "CUDA_DEVICE_MAX_CONNECTIONS"

static unsigned queues; /* 0: no limit */

/* The driver reads the variable so, too: what is no number counts as not set. */
static unsigned chosen(void)
{
    const char *value = getenv(VARIABLE);
    long number = value ? strtol(value, NULL, 10) : 0;
    if (number < 1)
        return QUEUES_OF_DRIVER;
    return number > QUEUES_AT_MOST ? QUEUES_AT_MOST : (unsigned)number;
}

void queue_share_ask_for_more(void)
{
    int saved = errno;
    setenv(VARIABLE, "16", 0);
    errno = saved;
}

void queue_share_limit(void)
{
    queues = chosen();
}

/* One queue stays free for what releases the others. Half of them are the program's, whatever streams it makes later: what
 * waits on a lane cannot be called back. */
static unsigned lanes_beside(unsigned others)
{
    unsigned left = others + 1 < queues ? queues - 1 - others : 0;
    unsigned most = queues / 2 < left ? queues / 2 : left;
    return most ? most : 1;
}

unsigned queue_share_most_lanes(void)
{
    return queues ? lanes_beside(0) : UINT_MAX;
}

static void set(struct queue_share *crowd, unsigned lanes)
{
    __atomic_store_n(&crowd->lanes, lanes, __ATOMIC_RELAXED);
}

int queue_share_crowd(struct queue_share *crowd, int more)
{
    crowd->others += (unsigned)more;
    unsigned lanes = queues ? lanes_beside(crowd->others) : 0;
    if (crowd->lanes && lanes >= crowd->lanes)
        return 0; /* no more before all is done: threads do not move to and fro as streams come and go */
    int fewer = crowd->lanes != lanes;
    set(crowd, lanes);
    return fewer;
}

int queue_share_anew(struct queue_share *crowd)
{
    unsigned lanes = queues ? lanes_beside(crowd->others) : 0, before = crowd->lanes;
    set(crowd, lanes);
    return before && lanes > before;
}
