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

/* Small keys, as the shim's own ids are, have their place in an array, which costs nothing to look up, call by call; all
 * others are hashed. */
enum { ID_MAP_SMALL = 1 << 12 };

struct id_map {
    uint32_t *small; /* value plus one; 0: not in it */
    size_t small_room;
    uint64_t *keys; /* 0: empty, for that key is a small one */
    uint32_t *values;
    size_t used, room; /* used: all keys that are hashed */
};

/* False when there is no memory. An existing key gets the new value. Any number is a key; UINT32_MAX is no valid value, and
 * refused. */
bool id_map_put(struct id_map *map, uint64_t key, uint32_t value);

static inline size_t id_map_home(const struct id_map *map, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 29) & (map->room - 1);
}

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

void id_map_remove(struct id_map *map, uint64_t key);

void id_map_free(struct id_map *map);

#ifdef __cplusplus
}
#endif
#endif
