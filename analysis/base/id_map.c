/* SPDX-License-Identifier: Apache-2.0
 *
 * The map from ids to positions. Called from all of analysis/, also inside a traced process at its exit: must never exit,
 * abort or print; a lack of memory is a return value.
 */

#include "analysis/base/id_map.h"

#include <stdlib.h>
#include "analysis/base/heap.h"
#include "analysis/base/table.h"

static size_t place(const struct id_map *map, uint64_t key)
{
    size_t at = id_map_home(map, key);
    while (map->keys[at] != 0 && map->keys[at] != key)
        at = (at + 1) & (map->room - 1);
    return at;
}

static bool rehash(struct id_map *map)
{
    struct id_map next = {.room = map->room != 0 ? map->room * 2 : 16, .used = map->used};
    next.keys = heap_zeroed(next.room, sizeof *next.keys);
    next.values = heap_zeroed(next.room, sizeof *next.values);
    if (next.keys == NULL || next.values == NULL) {
        free(next.keys);
        free(next.values);
        return false;
    }
    for (size_t i = 0; i < map->room; i++) {
        if (map->keys[i] == 0)
            continue;
        size_t at = place(&next, map->keys[i]);
        next.keys[at] = map->keys[i];
        next.values[at] = map->values[i];
    }
    free(map->keys);
    free(map->values);
    map->keys = next.keys;
    map->values = next.values;
    map->room = next.room;
    return true;
}

static bool put_small(struct id_map *map, uint64_t key, uint32_t value)
{
    uint32_t *grown = table_grow(map->small, &map->small_room, key + 1, sizeof *map->small);
    if (grown == NULL)
        return false;
    map->small = grown;
    map->small[key] = value + 1;
    return true;
}

bool id_map_put(struct id_map *map, uint64_t key, uint32_t value)
{
    if (value == UINT32_MAX)
        return false;
    if (key < ID_MAP_SMALL)
        return put_small(map, key, value);
    if (map->used * 2 >= map->room && !rehash(map))
        return false;
    size_t at = place(map, key);
    map->used += map->keys[at] == 0;
    map->keys[at] = key;
    map->values[at] = value;
    return true;
}

/* Moves later entries of the same run back over the hole, so that no search ends early at it. */
void id_map_remove(struct id_map *map, uint64_t key)
{
    if (key < ID_MAP_SMALL && key < map->small_room)
        map->small[key] = 0;
    if (key < ID_MAP_SMALL || map->room == 0)
        return;
    size_t mask = map->room - 1, hole = place(map, key);
    if (map->keys[hole] == 0)
        return;
    for (size_t at = (hole + 1) & mask; map->keys[at] != 0; at = (at + 1) & mask) {
        if (((at - id_map_home(map, map->keys[at])) & mask) < ((at - hole) & mask))
            continue;
        map->keys[hole] = map->keys[at];
        map->values[hole] = map->values[at];
        hole = at;
    }
    map->keys[hole] = 0;
    map->used--;
}

void id_map_free(struct id_map *map)
{
    free(map->small);
    free(map->keys);
    free(map->values);
    *map = (struct id_map){0};
}
