/* SPDX-License-Identifier: Apache-2.0
 *
 * What new threads are told, from pthread_create to the thread's first instruction. Called by threads.c; never frees, so a
 * start that was done with is the next one's.
 */
#include "interpose/handover/handover.h"

#include "interpose/base/lock.h"
#include "interpose/base/memory.h"

static struct handover_start *unused;
static struct lock unused_lock;

struct handover_start *handover_start_make(void *(*routine)(void *), void *argument)
{
    lock_take(&unused_lock);
    struct handover_start *start = unused;
    if (start)
        unused = start->next;
    lock_drop(&unused_lock);
    if (!start)
        start = memory_keep(sizeof *start);
    if (start)
        *start = (struct handover_start){.routine = routine, .argument = argument};
    return start;
}

void handover_start_drop(struct handover_start *start)
{
    lock_take(&unused_lock);
    start->next = unused;
    unused = start;
    lock_drop(&unused_lock);
}

void handover_starts_after_fork(void)
{
    unused_lock.held = 0;
}
