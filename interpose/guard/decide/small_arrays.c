/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays by size classes, each with a list of unused ones, linked by their first words. Called by lane_limits.c and ledger.c.
 * Must not call malloc.
 */
#include "interpose/guard/decide/small_arrays.h"

#include <string.h>

#include "interpose/base/pages.h"

static unsigned class_of(unsigned capacity)
{
    unsigned class = 0;
    for (unsigned size = ARRAYS_SMALLEST; size < capacity; size *= ARRAYS_GROWTH)
        class ++;
    return class;
}

static void *take(struct arrays *arrays, unsigned class)
{
    void *array = arrays->unused[class];
    if (!array)
        return pages_keep(((size_t)ARRAYS_SMALLEST << (2 * class)) * arrays->element);
    arrays->unused[class] = *(void **)array;
    return array;
}

void small_arrays_give_back(struct arrays *arrays, void *at, uint16_t capacity)
{
    unsigned class = class_of(capacity);
    *(void **)at = arrays->unused[class];
    arrays->unused[class] = at;
}

void *small_arrays_grow(struct arrays *arrays, void *at, uint16_t count, uint16_t *capacity)
{
    unsigned class = *capacity ? class_of(*capacity) + 1 : 0;
    void *larger = class < ARRAYS_CLASSES ? take(arrays, class) : NULL;
    if (!larger)
        return NULL;
    if (count)
        memcpy(larger, at, count * arrays->element);
    if (*capacity)
        small_arrays_give_back(arrays, at, *capacity);
    *capacity = (uint16_t)(ARRAYS_SMALLEST << (2 * class));
    return larger;
}
