/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap of completion.h, for model.c. Holds one entry for each synchronising call that has not returned yet.
 */
#include "analysis/model/completion.h"

#include <stdlib.h>

/* More calls than this are never in flight; a damaged trace may say so. */
enum { MOST_IN_FLIGHT = 4096 };

static void swap(struct completion *heap, size_t a, size_t b)
{
    struct completion moved = heap[a];
    heap[a] = heap[b];
    heap[b] = moved;
}

static void sift_down(struct completions *completions)
{
    struct completion *heap = completions->items;
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = at * 2 + 1; child <= at * 2 + 2 && child < completions->count; child++)
            if (heap[child].ticks < heap[least].ticks)
                least = child;
        if (least == at)
            return;
        swap(heap, at, least);
        at = least;
    }
}

void completions_add(struct completions *completions, uint64_t ticks, struct vclock *clock)
{
    if (completions->count >= MOST_IN_FLIGHT || !TABLE_ADD(completions)) {
        vclock_free(clock);
        return;
    }
    struct completion *heap = completions->items;
    size_t at = completions->count - 1;
    heap[at] = (struct completion){.ticks = ticks, .clock = *clock};
    *clock = (struct vclock){0};
    for (; at != 0 && heap[at].ticks < heap[(at - 1) / 2].ticks; at = (at - 1) / 2)
        swap(heap, at, (at - 1) / 2);
}

void completions_until(struct completions *completions, uint64_t now, struct vclock *done)
{
    while (completions->count != 0 && completions->items[0].ticks <= now) {
        vclock_join(done, &completions->items[0].clock);
        vclock_free(&completions->items[0].clock);
        completions->items[0] = *TABLE_LAST(completions);
        completions->count--;
        sift_down(completions);
    }
}

void completions_free(struct completions *completions)
{
    for (size_t i = 0; i < completions->count; i++)
        vclock_free(&completions->items[i].clock);
    free(completions->items);
    *completions = (struct completions){0};
}
