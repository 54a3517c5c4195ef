/* SPDX-License-Identifier: Apache-2.0
 *
 * Medians and spreads. Called by compare.c and answer.c. Must not call a difference one that a repetition may undo.
 */
#include "analysis/probe/times.h"

#include <stdlib.h>

/* Of so many rounds the fastest and the slowest say nothing about the others. */
enum { TRIMMED = 5, NOISE = 100 /* one part in so many is noise in any case */ };

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

enum pace times_pace(const struct times *bare, const struct times *other)
{
    if (bare->count < 2 || other->count < 2)
        return PACE_UNKNOWN;
    uint64_t apart = bare->median > other->median ? bare->median - other->median : other->median - bare->median;
    uint64_t spread = bare->spread > other->spread ? bare->spread : other->spread;
    if (apart <= spread || apart <= bare->median / NOISE)
        return PACE_SAME;
    return bare->median > other->median ? PACE_FASTER : PACE_SLOWER;
}
