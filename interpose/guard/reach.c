/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of (lane, moment) pairs: small arrays, whose memory is used again by size. Called by order*.c. Must not call malloc.
 */
#include "interpose/guard/reach.h"

#include <string.h>

#include "interpose/base/memory.h"

/* Sizes are 4, 16, 64 and 256 pairs, so that one for each lane always fits. A free array's first pair links to the next. */
enum { CLASSES = 4, SMALLEST = 4, GROWTH = 4 };
static struct reach_entry *free_arrays[CLASSES];

static unsigned class_of(unsigned capacity)
{
    unsigned class = 0;
    for (unsigned size = SMALLEST; size < capacity; size *= GROWTH)
        class ++;
    return class;
}

static struct reach_entry *take(unsigned class)
{
    struct reach_entry *array = free_arrays[class];
    if (array)
        memcpy(&free_arrays[class], array, sizeof free_arrays[class]);
    else
        array = memory_keep(((size_t)SMALLEST << (2 * class)) * sizeof *array);
    return array;
}

static void give_back(struct reach_entry *array, unsigned class)
{
    memcpy(array, &free_arrays[class], sizeof free_arrays[class]);
    free_arrays[class] = array;
}

void reach_drop(struct reach *reach)
{
    if (reach->capacity)
        give_back(reach->at, class_of(reach->capacity));
    *reach = (struct reach){0};
}

static int grow(struct reach *reach)
{
    unsigned class = reach->capacity ? class_of(reach->capacity) + 1 : 0;
    struct reach_entry *larger = class < CLASSES ? take(class) : NULL;
    if (!larger)
        return 0;
    uint16_t count = reach->count;
    if (count)
        memcpy(larger, reach->at, count * sizeof *larger);
    reach_drop(reach);
    *reach = (struct reach){.count = count, .capacity = (uint16_t)(SMALLEST << (2 * class)), .at = larger};
    return 1;
}

moment reach_until(const struct reach *reach, unsigned lane)
{
    for (unsigned i = 0; i < reach->count; i++) {
        if (reach->at[i].lane == lane)
            return reach->at[i].until;
    }
    return 0;
}

int reach_raise(struct reach *reach, unsigned lane, moment until)
{
    if (!until)
        return 1;
    for (unsigned i = 0; i < reach->count; i++) {
        if (reach->at[i].lane == lane) {
            if (reach->at[i].until < until)
                reach->at[i].until = until;
            return 1;
        }
    }
    if (reach->count == reach->capacity && !grow(reach))
        return 0;
    reach->at[reach->count++] = (struct reach_entry){(uint16_t)lane, until};
    return 1;
}

int reach_join(struct reach *reach, const struct reach *from)
{
    int all = 1;
    for (unsigned i = 0; i < from->count; i++)
        all &= reach_raise(reach, from->at[i].lane, from->at[i].until);
    return all;
}

void reach_prune(struct reach *reach, const struct order *o)
{
    uint16_t kept = 0;
    for (unsigned i = 0; i < reach->count; i++) {
        const struct lane *lane = o->lanes[reach->at[i].lane];
        if (lane && reach->at[i].until > lane->completed)
            reach->at[kept++] = reach->at[i];
    }
    reach->count = kept;
}
