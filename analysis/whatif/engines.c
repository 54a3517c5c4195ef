/* SPDX-License-Identifier: Apache-2.0
 *
 * Room on a device, for replay.c. A kernel that alone fills the device waits until nothing else runs.
 */
#include "analysis/whatif/engines.h"

/* The threads of what runs at any time in [begin, end): rather too many than too few. */
static uint64_t threads_in(const struct engine_queue *queue, uint64_t begin, uint64_t end)
{
    uint64_t threads = 0;
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->running[i].begin < end && queue->running[i].end > begin)
            threads += queue->running[i].threads;
    return threads;
}

/* The first end after a moment; the moment itself: there is none. */
static uint64_t next_end(const struct engine_queue *queue, uint64_t at)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->running[i].end > at && queue->running[i].end < next)
            next = queue->running[i].end;
    return next != UINT64_MAX ? next : at;
}

/* Copies have their engine to themselves. No kernel needs nothing. */
static uint64_t needs(const struct step *step, uint64_t most_threads)
{
    uint64_t threads = step->gpu_threads != 0 ? step->gpu_threads : 1;
    return step->engine == ENGINE_KERNELS && threads < most_threads ? threads : most_threads;
}

struct moment engines_room(const struct engines *engines, const struct step *step, struct moment ready,
                           uint64_t most_threads)
{
    const struct engine_queue *queue = &engines->queues[step->engine];
    uint64_t at = ready.at, room = most_threads - needs(step, most_threads);
    while (threads_in(queue, at, at + step->ran) > room && next_end(queue, at) > at)
        at = next_end(queue, at);
    return moment_after(ready, at - ready.at, PART_FULL);
}

void engines_take(struct engines *engines, const struct step *step, uint64_t begin, uint64_t most_threads)
{
    struct engine_queue *queue = &engines->queues[step->engine];
    unsigned place = 0;
    for (unsigned i = 1; i < queue->count; i++)
        if (queue->running[i].end < queue->running[place].end)
            place = i;
    if (queue->count < ENGINE_KEPT)
        place = queue->count++;
    queue->running[place] = (struct running){begin, begin + step->ran, needs(step, most_threads)};
}
