/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recording tells of times on the device. Called by whatif.c, before it replays anything.
 */
#include "analysis/whatif/durations.h"

#include <stdlib.h>

static bool is_unknown(const struct step *step)
{
    return step->engine != ENGINE_NONE && step->ran == STEP_UNKNOWN;
}

/* What one of `count` operations without a time took, of those between two waits, from `first` to the wait: their share of
 * the time since the first of them, less what the others took. With others it is no more than their share of the wait. */
static uint64_t share_of(const struct recorded *recorded, size_t first, size_t wait, uint64_t idle, uint64_t count)
{
    const struct step *step = &recorded->steps.items[wait];
    uint64_t begin = 0, known = 0;
    for (size_t k = first; k <= wait; k++) {
        const struct step *one = &recorded->steps.items[k];
        if (is_unknown(one) && begin == 0)
            begin = one->enter > idle ? one->enter : idle;
        else if (one->engine != ENGINE_NONE && one->ran != STEP_UNKNOWN)
            known = known > UINT64_MAX - one->ran ? UINT64_MAX : known + one->ran;
    }
    uint64_t time = step->waited != 0 && step->leave > begin ? step->leave - begin : 0;
    if (known != 0 && time > step->waited)
        time = step->waited;
    return time > known ? (time - known) / count : 0;
}

void durations_share(struct recorded *recorded)
{
    size_t first = 0, count = 0; /* steps since the last wait; of them, those without a time */
    uint64_t idle = 0;           /* the device had nothing to do before */
    for (size_t i = 0; i < recorded->steps.count; i++) {
        struct step *step = &recorded->steps.items[i];
        count += is_unknown(step);
        if (step->waits == WAIT_NONE || step->leave == step->enter || count == 0)
            continue;
        uint64_t share = share_of(recorded, first, i, idle, count);
        for (size_t k = first; k <= i; k++) {
            struct step *one = &recorded->steps.items[k];
            if (!is_unknown(one))
                continue;
            one->ran = share < one->longest ? share : one->longest;
            one->guessed = true;
        }
        first = i + 1;
        count = 0;
        idle = step->leave;
    }
    for (; first < recorded->steps.count; first++)
        if (recorded->steps.items[first].ran == STEP_UNKNOWN)
            recorded->steps.items[first].ran = 0;
}

/* ---- latencies ---- */

struct numbers {
    uint64_t *items;
    size_t count, room;
};

static void add(struct numbers *numbers, uint64_t number)
{
    if (TABLE_ADD(numbers))
        *TABLE_LAST(numbers) = number;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The number that so many per cent are below, and the end of the list; 0: there is none. */
static uint64_t percentile(struct numbers *numbers, unsigned percent)
{
    uint64_t number = 0;
    if (numbers->count != 0) {
        qsort(numbers->items, numbers->count, sizeof *numbers->items, compare);
        number = numbers->items[numbers->count * percent / 100];
    }
    free(numbers->items);
    return number;
}

static bool is_timed(const struct step *step)
{
    return step->engine != ENGINE_NONE && step->ran != STEP_UNKNOWN && step->sent < RECORDED_OWN;
}

/* Of work that found every device idle. */
static uint64_t launch_of(const struct recorded *recorded)
{
    struct numbers launch = {0};
    uint64_t busy = 0;
    for (size_t i = 0; i < recorded->steps.count; i++) {
        const struct step *step = &recorded->steps.items[i];
        uint64_t begin = step->enter + step->began;
        if (!is_timed(step))
            continue;
        if (busy < step->enter)
            add(&launch, step->began);
        busy = begin + step->ran > busy ? begin + step->ran : busy;
    }
    return percentile(&launch, 50);
}

/* Of work that lay on its stream long before anything else was done: its call had returned, and was not held up in the
 * driver by other threads'. It came after what ended last before it began, or after nothing, so the quickest tell. */
static uint64_t next_of(const struct recorded *recorded, uint64_t launch)
{
    enum { LATELY = 16 };
    struct numbers next = {0};
    uint64_t ends[LATELY] = {0}, count = 0;
    for (size_t i = 0; i < recorded->steps.count; i++) {
        const struct step *step = &recorded->steps.items[i];
        uint64_t begin = step->enter + step->began, before = 0;
        if (!is_timed(step))
            continue;
        for (unsigned k = 0; k < LATELY; k++)
            before = ends[k] <= begin && ends[k] > before ? ends[k] : before;
        if (before > step->enter + 2 * launch && before >= step->leave)
            add(&next, begin - before);
        ends[count++ % LATELY] = begin + step->ran;
    }
    return percentile(&next, 25);
}

/* Of threads that waited for a stream: since its last work ended, whichever thread's. */
static uint64_t wake_of(const struct recorded *recorded)
{
    enum { LATELY = 64 };
    struct numbers wake = {0};
    struct {
        uint64_t end;
        uint32_t stream;
    } done[LATELY] = {{0, 0}};
    size_t count = 0;
    for (size_t i = 0; i < recorded->steps.count; i++) {
        const struct step *step = &recorded->steps.items[i];
        uint64_t ended = 0;
        if (is_timed(step)) {
            done[count % LATELY].end = step->enter + step->began + step->ran;
            done[count++ % LATELY].stream = step->sent;
        }
        for (unsigned k = 0; k < LATELY && step->waits == WAIT_STREAM && step->waited != 0; k++)
            if (done[k].stream == step->sent && done[k].end <= step->leave && done[k].end > ended)
                ended = done[k].end;
        if (ended > step->enter)
            add(&wake, step->leave - ended);
    }
    return percentile(&wake, 50);
}

struct latencies durations_latencies(const struct recorded *recorded)
{
    struct latencies latencies = {.launch = launch_of(recorded)};
    latencies.next = next_of(recorded, latencies.launch);
    latencies.wake = wake_of(recorded);
    return latencies;
}
