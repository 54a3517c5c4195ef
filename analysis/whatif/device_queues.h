/* SPDX-License-Identifier: Apache-2.0
 *
 * The queues that a device has for a process (CUDA_DEVICE_MAX_CONNECTIONS): streams beyond their number share them, and
 * what waits in a queue holds up what was put there after it, of whichever stream. For replay.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_DEVICE_QUEUES_H
#define PTDS_ANALYSIS_WHATIF_DEVICE_QUEUES_H

#include "analysis/whatif/replay.h"

enum { QUEUES_MOST = 32, QUEUE_KEPT = 16 };

struct queues {
    struct queue {
        struct queued {
            uint64_t put, ready; /* when it was put there, and when it could begin */
        } kept[QUEUE_KEPT];      /* of more, those that were ready first are forgotten */
        unsigned count;
        uint32_t streams, thread; /* that have it; whose the latest of them is */
    } queues[QUEUES_MOST];
};

/* Which one of `count` a new stream gets, which this thread uses. They are dealt out evenly; how, nobody tells: here
 * rather one beside another thread's stream than beside one of this thread. Returns its number. */
uint32_t device_queues_next(struct queues *queues, unsigned count, uint32_t thread);
/* When what is put there at a moment and could begin at `ready` comes to the head of its queue; until then is PART_QUEUES.
 */
struct moment device_queues_put(struct queues *queues, uint32_t number, uint64_t put, struct moment ready);

#endif
