/* SPDX-License-Identifier: Apache-2.0
 *
 * Hardware queues, for replay.c. Operations come in the order in which they were recorded, not in that of the replay: only
 * those that the replay puts there sooner are before an operation.
 */
#include "analysis/whatif/device_queues.h"

static bool is_better(const struct queue *queue, const struct queue *other, uint32_t thread)
{
    if (queue->streams != other->streams)
        return queue->streams < other->streams;
    return other->streams != 0 && other->thread == thread && queue->thread != thread;
}

uint32_t device_queues_next(struct queues *queues, unsigned count, uint32_t thread)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (is_better(&queues->queues[i], &queues->queues[best], thread))
            best = i;
    queues->queues[best].streams++;
    queues->queues[best].thread = thread;
    return best;
}

static void keep(struct queue *queue, uint64_t put, uint64_t ready)
{
    unsigned place = 0;
    for (unsigned i = 1; i < queue->count; i++)
        if (queue->kept[i].ready < queue->kept[place].ready)
            place = i;
    if (queue->count < QUEUE_KEPT)
        place = queue->count++;
    queue->kept[place] = (struct queued){put, ready};
}

struct moment device_queues_put(struct queues *queues, uint32_t number, uint64_t put, struct moment ready)
{
    struct queue *queue = &queues->queues[number];
    uint64_t at = ready.at;
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->kept[i].put <= ready.at && queue->kept[i].ready > at)
            at = queue->kept[i].ready;
    keep(queue, put, at);
    return moment_after(ready, at - ready.at, PART_QUEUES);
}
