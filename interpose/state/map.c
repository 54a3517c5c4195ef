/* SPDX-License-Identifier: Apache-2.0
 *
 * The striped hash map. Called from wrappers of creating and destroying calls and, for kernels and events, when recording.
 * Must not allocate with malloc or hold a lock across a driver call.
 */
#include "interpose/state/map.h"

#include <string.h>

#include "interpose/base/memory.h"

#define DELETED UINT64_MAX
#define FIRST_CAPACITY 64u

static uint64_t mix(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return key ^ (key >> 29);
}

/* The slot of the key, or the free or deleted one where it belongs; the stripe has at least one free slot. */
static struct map_entry *probe(const struct map_stripe *stripe, uint64_t key)
{
    struct map_entry *reuse = NULL;
    for (size_t at = mix(key) >> 6;; at++) {
        struct map_entry *entry = &stripe->entries[at & (stripe->capacity - 1)];
        if (entry->key == key)
            return entry;
        if (entry->key == 0)
            return reuse ? reuse : entry;
        if (entry->key == DELETED && !reuse)
            reuse = entry;
    }
}

/* Where most slots are deleted ones, the same size is enough for the rest. */
static size_t next_capacity(const struct map_stripe *stripe)
{
    size_t live = 0;
    for (size_t i = 0; i < stripe->capacity; i++)
        live += stripe->entries[i].key != 0 && stripe->entries[i].key != DELETED;
    if (stripe->capacity == 0)
        return FIRST_CAPACITY;
    return live * 4 <= stripe->capacity ? stripe->capacity : stripe->capacity * 2;
}

static int grow(struct map_stripe *stripe)
{
    struct map_stripe larger = {.capacity = next_capacity(stripe)};
    larger.entries = memory_pages(larger.capacity * sizeof *larger.entries);
    if (!larger.entries)
        return 0;
    for (size_t i = 0; i < stripe->capacity; i++) {
        const struct map_entry *old = &stripe->entries[i];
        if (old->key != 0 && old->key != DELETED) {
            *probe(&larger, old->key) = *old;
            larger.used++;
        }
    }
    if (stripe->entries)
        memory_pages_free(stripe->entries, stripe->capacity * sizeof *stripe->entries);
    stripe->entries = larger.entries;
    stripe->capacity = larger.capacity;
    stripe->used = larger.used;
    return 1;
}

static struct map_stripe *enter(struct map *map, uint64_t key)
{
    struct map_stripe *stripe = &map->stripe[mix(key) % MAP_STRIPES];
    lock_take(&stripe->lock);
    return stripe;
}

/* The value afterwards; 0 without memory. */
static uint64_t put(struct map *map, uint64_t key, uint64_t value, int replace)
{
    if (key == 0 || key == DELETED)
        return 0;
    struct map_stripe *stripe = enter(map, key);
    if ((stripe->used + 1) * 2 > stripe->capacity && !grow(stripe)) {
        value = 0;
    } else {
        struct map_entry *entry = probe(stripe, key);
        stripe->used += entry->key == 0;
        if (entry->key == key && !replace)
            value = entry->value;
        *entry = (struct map_entry){key, value};
    }
    lock_drop(&stripe->lock);
    return value;
}

void map_set(struct map *map, uint64_t key, uint64_t value)
{
    put(map, key, value, 1);
}

uint64_t map_get_or_set(struct map *map, uint64_t key, uint64_t value)
{
    return put(map, key, value, 0);
}

uint64_t map_get(struct map *map, uint64_t key)
{
    return map_add(map, key, 0);
}

/* NULL: not there. */
static struct map_entry *present(const struct map_stripe *stripe, uint64_t key)
{
    struct map_entry *entry = stripe->capacity ? probe(stripe, key) : NULL;
    return entry && entry->key == key ? entry : NULL;
}

uint64_t map_add(struct map *map, uint64_t key, uint64_t amount)
{
    if (key == 0 || key == DELETED)
        return 0;
    uint64_t value = 0;
    struct map_stripe *stripe = enter(map, key);
    struct map_entry *entry = present(stripe, key);
    if (entry)
        value = entry->value += amount;
    lock_drop(&stripe->lock);
    return value;
}

uint64_t map_remove(struct map *map, uint64_t key)
{
    if (key == 0 || key == DELETED)
        return 0;
    uint64_t value = 0;
    struct map_stripe *stripe = enter(map, key);
    struct map_entry *entry = present(stripe, key);
    if (entry) {
        value = entry->value;
        *entry = (struct map_entry){DELETED, 0};
    }
    lock_drop(&stripe->lock);
    return value;
}

void map_clear(struct map *map)
{
    for (uint32_t i = 0; i < MAP_STRIPES; i++) {
        struct map_stripe *stripe = &map->stripe[i];
        lock_take(&stripe->lock);
        if (stripe->entries)
            memset(stripe->entries, 0, stripe->capacity * sizeof *stripe->entries);
        stripe->used = 0;
        lock_drop(&stripe->lock);
    }
}

void map_remove_if(struct map *map, int (*gone)(uint64_t key, uint64_t value, void *argument), void *argument)
{
    for (uint32_t i = 0; i < MAP_STRIPES; i++) {
        struct map_stripe *stripe = &map->stripe[i];
        lock_take(&stripe->lock);
        for (size_t at = 0; at < stripe->capacity; at++) {
            struct map_entry *entry = &stripe->entries[at];
            if (entry->key != 0 && entry->key != DELETED && gone(entry->key, entry->value, argument))
                *entry = (struct map_entry){DELETED, 0};
        }
        lock_drop(&stripe->lock);
    }
}

void map_reset(struct map *map)
{
    memset(map, 0, sizeof *map);
}
