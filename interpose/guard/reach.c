/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of (lane, moment) pairs: small arrays, whose memory is used again by size. Called by order*.c. Must not call malloc.
 */
#include "interpose/guard/reach.h"

#include "interpose/guard/arrays.h"

static struct arrays arrays = {.element = sizeof(struct reach_entry)};

void reach_drop(struct reach *reach)
{
    if (reach->capacity)
        arrays_give_back(&arrays, reach->at, reach->capacity);
    *reach = (struct reach){0};
}

static int grow(struct reach *reach)
{
    struct reach_entry *larger = arrays_grow(&arrays, reach->at, reach->count, &reach->capacity);
    if (!larger)
        return 0;
    reach->at = larger;
    return 1;
}

moment reach_until(const struct reach *reach, unsigned lane)
{
    for (unsigned i = 0; i < reach->count; i++) {
        if (reach->at[i].lane == lane)
            return reach->at[i].until > reach->all ? reach->at[i].until : reach->all;
    }
    return reach->all;
}

void reach_raise(struct reach *reach, unsigned lane, moment until)
{
    if (!until)
        return;
    for (unsigned i = 0; i < reach->count; i++) {
        if (reach->at[i].lane == lane) {
            if (reach->at[i].until < until)
                reach->at[i].until = until;
            return;
        }
    }
    if (reach->count < reach->capacity || grow(reach))
        reach->at[reach->count++] = (struct reach_entry){(uint16_t)lane, until};
    else if (reach->all < until)
        reach->all = until;
}

void reach_join(struct reach *reach, const struct reach *from)
{
    for (unsigned i = 0; i < from->count; i++)
        reach_raise(reach, from->at[i].lane, from->at[i].until);
    if (reach->all < from->all)
        reach->all = from->all;
}

void reach_copy(struct reach *reach, const struct reach *from)
{
    reach->count = 0;
    reach->all = 0;
    reach_join(reach, from);
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
