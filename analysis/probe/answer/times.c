/* SPDX-License-Identifier: Apache-2.0
 *
 * Medians and spreads. Called by compare_runs.c and policy_answer.c. Must not call a difference one that a repetition may
 * undo.
 */
#include "analysis/probe/answer/times.h"

#include <stdlib.h>

/* Of so many rounds the fastest and the slowest say nothing about the others. */
enum { FEWEST = 3, TRIMMED = 5, NOISE = 100 /* one part in so many is noise in any case */ };

const char *const pace_names[] = {
    [PACE_SAME] = "no-measurable-difference",
    [PACE_FASTER] = "faster",
    [PACE_SLOWER] = "slower",
    [PACE_UNKNOWN] = "too-few-rounds",
};

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

struct times times_of(uint64_t *ns, size_t count)
{
    struct times times = {.count = count};
    if (count == 0)
        return times;
    qsort(ns, count, sizeof *ns, by_size);
    size_t cut = count >= TRIMMED ? 1 : 0;
    uint64_t low = ns[(count - 1) / 2], high = ns[count / 2];
    times.median = low + (high - low) / 2;
    times.least = ns[0];
    times.most = ns[count - 1];
    times.spread = ns[count - 1 - cut] - ns[cut];
    return times;
}

static uint64_t apart(const struct times *a, const struct times *b)
{
    return a->median > b->median ? a->median - b->median : b->median - a->median;
}

static uint64_t wider(const struct times *a, const struct times *b)
{
    return a->spread > b->spread ? a->spread : b->spread;
}

uint64_t times_noise(const struct times *bare, const struct times *other)
{
    uint64_t spread = wider(bare, other), share = bare->median / NOISE, most = spread > share ? spread : share;
    return most > TIMES_FLOOR_NS ? most : TIMES_FLOOR_NS;
}

bool times_under_floor(const struct times *bare, const struct times *other)
{
    return times_noise(bare, other) == TIMES_FLOOR_NS && apart(bare, other) <= TIMES_FLOOR_NS;
}

enum pace times_pace(const struct times *bare, const struct times *other)
{
    if (bare->count < FEWEST || other->count < FEWEST)
        return PACE_UNKNOWN;
    if (apart(bare, other) <= times_noise(bare, other))
        return PACE_SAME;
    return other->most < bare->least ? PACE_FASTER : bare->most < other->least ? PACE_SLOWER : PACE_SAME;
}

bool times_doubtful(const struct times *bare, const struct times *other)
{
    enum pace pace = times_pace(bare, other);
    return pace == PACE_SLOWER || (pace == PACE_FASTER && apart(bare, other) / 2 <= wider(bare, other));
}
