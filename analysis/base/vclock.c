/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks, for order.c and model.c. Called once or twice a driver call: no allocation once a clock has its size.
 */
#include "analysis/base/vclock.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/table.h"

/* Sizes are powers of two: clocks of other sizes that join each other in turn would each time grow beyond the other. */
static bool make_room(struct vclock *clock, size_t slots)
{
    size_t room = 8;
    while (room < slots)
        room *= 2;
    void *grown = table_grow(clock->at, &clock->room, room, sizeof *clock->at);
    if (grown != NULL)
        clock->at = grown;
    return grown != NULL;
}

bool vclock_raise_more(struct vclock *clock, uint32_t slot, uint64_t op)
{
    return make_room(clock, (size_t)slot + 1) && vclock_raise(clock, slot, op);
}

bool vclock_join(struct vclock *into, const struct vclock *from)
{
    if (from->room == 0)
        return true;
    if (!make_room(into, from->room))
        return false;
    for (size_t i = 0; i < from->room; i++)
        if (from->at[i] > into->at[i])
            into->at[i] = from->at[i];
    return true;
}

bool vclock_copy(struct vclock *into, const struct vclock *from)
{
    if (into->room < from->room && !make_room(into, from->room)) {
        if (into->room != 0)
            memset(into->at, 0, into->room * sizeof *into->at);
        return false;
    }
    if (from->room != 0)
        memcpy(into->at, from->at, from->room * sizeof *into->at);
    if (into->room > from->room)
        memset(into->at + from->room, 0, (into->room - from->room) * sizeof *into->at);
    return true;
}

void vclock_clear(struct vclock *clock)
{
    if (clock->room != 0)
        memset(clock->at, 0, clock->room * sizeof *clock->at);
}

void vclock_free(struct vclock *clock)
{
    free(clock->at);
    *clock = (struct vclock){0};
}
