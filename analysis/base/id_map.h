/* SPDX-License-Identifier: Apache-2.0
 *
 * A map from ids to positions. Ids come from traces and may be any number, so nothing in analysis/ is ever indexed by
 * one.
 */
#ifndef PTDS_ANALYSIS_BASE_ID_MAP_H
#define PTDS_ANALYSIS_BASE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys below ID_MAP_SMALL, as the ids of the shim are, index an array, which costs next to nothing for each call;
 * other keys are hashed. */
enum { ID_MAP_SMALL = 1 << 12 };

struct id_map {
    uint32_t *small; /* value plus one; 0: not in it */
    size_t small_room;
    uint64_t *keys; /* 0: empty, for that key is a small one */
    uint32_t *values;
    size_t used, room; /* used: all keys that are hashed */
};

/* Maps the key to the value, in place of an earlier value. False without memory, or where the value is UINT32_MAX. */
bool id_map_put(struct id_map *map, uint64_t key, uint32_t value);

/* Where the search for a hashed key begins. */
static inline size_t id_map_home(const struct id_map *map, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 29) & (map->room - 1);
}

/* Whether the map has the key; then *value is its value. */
static inline bool id_map_get(const struct id_map *map, uint64_t key, uint32_t *value)
{
    if (key < ID_MAP_SMALL) {
        uint32_t stored = key < map->small_room ? map->small[key] : 0;
        if (stored != 0)
            *value = stored - 1;
        return stored != 0;
    }
    if (map->room == 0)
        return false;
    size_t at = id_map_home(map, key);
    while (map->keys[at] != 0 && map->keys[at] != key)
        at = (at + 1) & (map->room - 1);
    if (map->keys[at] == 0)
        return false;
    *value = map->values[at];
    return true;
}

/* Removes the key; nothing where the map has none such. */
void id_map_remove(struct id_map *map, uint64_t key);

/* Releases the memory of the map, which is empty afterwards. */
void id_map_free(struct id_map *map);

#ifdef __cplusplus
}
#endif
#endif
