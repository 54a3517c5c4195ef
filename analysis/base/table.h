/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing arrays and a map from ids to positions, for everything in analysis/. Ids come from traces and may be any number,
 * so nothing else is ever indexed by one. No function here exits or aborts; all report a lack of memory.
 */
#ifndef PTDS_ANALYSIS_BASE_TABLE_H
#define PTDS_ANALYSIS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What most calls of a trace do not come to, kept out of the functions that all of them go through. */
#define RARE __attribute__((noinline, cold))
/* What only some calls come to: the others need not save registers for it. */
#define ASIDE __attribute__((noinline))
/* What nearly all calls come to, from one or two places, and the compiler takes for too long to repeat there. */
#define INLINE inline __attribute__((always_inline))

/* Makes room for `need` items of `size` bytes. `items` is the array so far (may be NULL), *room how many it can hold.
 * Returns the array, perhaps moved, with the new part zeroed; NULL when there is no memory, and then `items` is still
 * valid. */
void *table_grow_more(void *items, size_t *room, size_t need, size_t size);
static inline void *table_grow(void *items, size_t *room, size_t need, size_t size)
{
    return need <= *room && items != NULL ? items : table_grow_more(items, room, need, size);
}

/* Appends room for one item to an array {items, count, room}; evaluates to whether that worked. */
#define TABLE_ADD(list) \
    ({ \
        void *grown_ = table_grow((list)->items, &(list)->room, (list)->count + 1, sizeof *(list)->items); \
        if (grown_ != NULL) { \
            (list)->items = grown_; \
            (list)->count++; \
        } \
        grown_ != NULL; \
    })

#define TABLE_LAST(list) (&(list)->items[(list)->count - 1])

/* Declares an array type for TABLE_ADD. */
#define TABLE_OF(type) \
    struct { \
        type *items; \
        size_t count; \
        size_t room; \
    }

/* One of 64 bits by a number's hash, for sets that may say "perhaps". */
static inline uint64_t bit_of(uint64_t number)
{
    return UINT64_C(1) << (number * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

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
