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

/* The number of the queue, of `count`, that a new stream of this thread gets. They are dealt out evenly; the real
 * order is not documented: here a stream rather shares with another thread than with its own. */
uint32_t device_queues_next(struct queues *queues, unsigned count, uint32_t thread);
/* When an operation that is put there at `put` and could begin at `ready` comes to the head of its queue; the time
 * until then is PART_QUEUES. */
struct moment device_queues_put(struct queues *queues, uint32_t number, uint64_t put, struct moment ready);

#endif
