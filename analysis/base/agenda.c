/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap of agenda.h. Used by the model and by repair, once a wait. Allocates nothing.
 */
#include "analysis/base/agenda.h"

#include <string.h>

static uint64_t ticks_of(const unsigned char *items, size_t at, size_t size)
{
    uint64_t ticks;
    memcpy(&ticks, items + at * size, sizeof ticks);
    return ticks;
}

static void swap(unsigned char *items, size_t a, size_t b, size_t size)
{
    unsigned char moved[AGENDA_ITEM_MOST];
    memcpy(moved, items + a * size, size);
    memmove(items + a * size, items + b * size, size);
    memcpy(items + b * size, moved, size);
}

void agenda_add(void *items, size_t count, size_t size)
{
    for (size_t at = count - 1; at != 0 && ticks_of(items, at, size) < ticks_of(items, (at - 1) / 2, size);
         at = (at - 1) / 2)
        swap(items, at, (at - 1) / 2, size);
}

void agenda_take(void *items, size_t count, size_t size)
{
    swap(items, 0, count - 1, size);
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = at * 2 + 1; child <= at * 2 + 2 && child < count - 1; child++)
            if (ticks_of(items, child, size) < ticks_of(items, least, size))
                least = child;
        if (least == at)
            return;
        swap(items, at, least, size);
        at = least;
    }
}
