/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a handle was given, or an address opened, beside the first time: the memory is there until all are given back.
 */
#ifndef PTDS_REPEAT_COUNT_H
#define PTDS_REPEAT_COUNT_H

#include "interpose/state/map.h"

/* Once more. */
static inline void repeat_count_up(struct map *counts, uint64_t key)
{
    if (!map_add(counts, key, 1))
        map_set(counts, key, 1);
}

/* Once less. 0: it was the only time. */
static inline int repeat_count_down(struct map *counts, uint64_t key)
{
    uint64_t more = map_get(counts, key);
    if (more > 1)
        map_set(counts, key, more - 1);
    else if (more)
        map_remove(counts, key);
    return more != 0;
}

#endif
