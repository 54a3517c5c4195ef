/* SPDX-License-Identifier: Apache-2.0
 *
 * Grows arrays. Called from all of analysis/, also inside a traced process at its exit: must never exit, abort or print.
 */
#include "analysis/base/table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"

void *table_grow_more(void *items, size_t *room, size_t need, size_t size)
{
    size_t wanted = *room * 2 > need ? *room * 2 : need;
    if (wanted < 8)
        wanted = 8;
    if (wanted < need || wanted > SIZE_MAX / size)
        return NULL;
    unsigned char *grown = heap_resized(items, wanted * size);
    if (grown == NULL)
        return NULL;
    memset(grown + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return grown;
}
