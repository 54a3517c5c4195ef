/* SPDX-License-Identifier: Apache-2.0
 *
 * The striped hash map. Called from wrappers of creating and destroying calls and, for kernels and events, when recording.
 * Must not allocate with malloc or hold a lock across a driver call.
 */
#include "interpose/state/map.h"

#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"

#define DELETED UINT64_MAX
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

enum { FIRST = 8, CAPACITY_BITS = 63 }; /* a page at first, where pages are small */

static uint64_t mix(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return key ^ (key >> 29);
}

static int is_key(uint64_t key)
{
    return key != 0 && key != DELETED;
}

/* ---- tables ---- */

struct table {
    struct map_entry *at;
    size_t capacity;
};

static struct table table_at(uintptr_t word)
{
    return (struct table){(struct map_entry *)(word & ~(uintptr_t)CAPACITY_BITS),
                          word ? (size_t)1 << (word & CAPACITY_BITS) : 0};
}

static uintptr_t make_table(unsigned bits)
{
    void *pages = pages_map(sizeof(struct map_entry) << bits);
    return pages ? (uintptr_t)pages | bits : 0;
}

/* The pages stay the map's: a reader that is still in the table finds nothing, and looks again. */
static void empty(uintptr_t word)
{
    struct table table = table_at(word);
    if (word)
        pages_clear(table.at, table.capacity * sizeof *table.at);
}

/* The slot of the key, or the free or deleted one where it belongs; the table has at least one free slot. */
static struct map_entry *probe(struct table table, uint64_t key)
{
    struct map_entry *reuse = NULL;
    for (size_t at = mix(key) >> 6;; at++) {
        struct map_entry *entry = table.at + (at & (table.capacity - 1));
        if (entry->key == key)
            return entry;
        if (entry->key == 0)
            return reuse ? reuse : entry;
        if (entry->key == DELETED && !reuse)
            reuse = entry;
    }
}

static void set_entry(struct map_entry *entry, uint64_t key, uint64_t value)
{
    STORE(entry->key, key);
    STORE(entry->value, value);
}

/* ---- changes, all under the stripe's lock ---- */

static void begin_change(struct map_stripe *stripe)
{
    STORE(stripe->changes, stripe->changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct map_stripe *stripe)
{
    __atomic_store_n(&stripe->changes, stripe->changes + 1, __ATOMIC_RELEASE);
}

/* Where most slots are deleted ones, the same size is enough for the rest. */
static unsigned next_bits(uintptr_t word)
{
    struct table table = table_at(word);
    size_t live = 0;
    for (size_t i = 0; i < table.capacity; i++)
        live += is_key(table.at[i].key);
    if (!word)
        return FIRST;
    return (unsigned)(word & CAPACITY_BITS) + (live * 4 > table.capacity);
}

static int grow(struct map_stripe *stripe)
{
    uintptr_t old = stripe->table, larger = stripe->spare;
    unsigned bits = next_bits(old);
    if ((larger & CAPACITY_BITS) != bits && !(larger = make_table(bits)))
        return 0;
    struct table from = table_at(old), to = table_at(larger);
    uint32_t live = 0;
    begin_change(stripe);
    for (size_t i = 0; i < from.capacity; i++) {
        if (is_key(from.at[i].key)) {
            set_entry(probe(to, from.at[i].key), from.at[i].key, from.at[i].value);
            live++;
        }
    }
    __atomic_store_n(&stripe->table, larger, __ATOMIC_RELEASE);
    stripe->spare = old;
    stripe->used = live;
    end_change(stripe);
    empty(old);
    return 1;
}

static struct map_stripe *stripe_of(struct map *map, uint64_t key)
{
    return &map->stripe[mix(key) % MAP_STRIPES];
}

static struct map_stripe *enter(struct map *map, uint64_t key)
{
    struct map_stripe *stripe = stripe_of(map, key);
    lock_take(&stripe->lock);
    return stripe;
}

static int is_full(const struct map_stripe *stripe)
{
    return ((size_t)stripe->used + 1) * 2 > table_at(stripe->table).capacity;
}

static void change(struct map_stripe *stripe, struct map_entry *entry, uint64_t key, uint64_t value)
{
    begin_change(stripe);
    set_entry(entry, key, value);
    end_change(stripe);
}

/* The value afterwards; 0 without memory. */
static uint64_t put(struct map *map, uint64_t key, uint64_t value, int replace)
{
    if (!is_key(key))
        return 0;
    struct map_stripe *stripe = enter(map, key);
    if (is_full(stripe) && !grow(stripe)) {
        value = 0;
    } else {
        struct map_entry *entry = probe(table_at(stripe->table), key);
        stripe->used += entry->key == 0;
        if (entry->key == key && !replace)
            value = entry->value;
        change(stripe, entry, key, value);
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

/* 0: it changed meanwhile. */
static int read(const struct map_stripe *stripe, uint64_t key, uint64_t *value)
{
    uint32_t before = __atomic_load_n(&stripe->changes, __ATOMIC_ACQUIRE);
    struct table table = table_at(__atomic_load_n(&stripe->table, __ATOMIC_ACQUIRE));
    *value = 0;
    for (size_t i = 0, at = mix(key) >> 6; i < table.capacity; i++, at++) {
        const struct map_entry *entry = table.at + (at & (table.capacity - 1));
        uint64_t found = LOAD(entry->key);
        if (found == key)
            *value = LOAD(entry->value);
        if (found == key || found == 0)
            break;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return before % 2 == 0 && LOAD(stripe->changes) == before;
}

uint64_t map_get(struct map *map, uint64_t key)
{
    uint64_t value;
    if (!is_key(key))
        return 0;
    const struct map_stripe *stripe = stripe_of(map, key);
    for (int tries = 0; tries < 64; tries++) {
        if (read(stripe, key, &value))
            return value;
    }
    return map_add(map, key, 0); /* the thread that changes the stripe was interrupted */
}

/* NULL: not there. */
static struct map_entry *present(const struct map_stripe *stripe, uint64_t key)
{
    struct map_entry *entry = stripe->table ? probe(table_at(stripe->table), key) : NULL;
    return entry && entry->key == key ? entry : NULL;
}

uint64_t map_add(struct map *map, uint64_t key, uint64_t amount)
{
    if (!is_key(key))
        return 0;
    uint64_t value = 0;
    struct map_stripe *stripe = enter(map, key);
    struct map_entry *entry = present(stripe, key);
    if (entry)
        STORE(entry->value, value = entry->value + amount);
    lock_drop(&stripe->lock);
    return value;
}

uint64_t map_remove(struct map *map, uint64_t key)
{
    if (!is_key(key))
        return 0;
    uint64_t value = 0;
    struct map_stripe *stripe = enter(map, key);
    struct map_entry *entry = present(stripe, key);
    if (entry) {
        value = entry->value;
        change(stripe, entry, DELETED, 0);
    }
    lock_drop(&stripe->lock);
    return value;
}

void map_clear(struct map *map)
{
    for (uint32_t i = 0; i < MAP_STRIPES; i++) {
        struct map_stripe *stripe = &map->stripe[i];
        lock_take(&stripe->lock);
        struct table table = table_at(stripe->used ? stripe->table : 0);
        begin_change(stripe);
        for (size_t at = 0; at < table.capacity; at++)
            set_entry(&table.at[at], 0, 0);
        stripe->used = 0;
        end_change(stripe);
        lock_drop(&stripe->lock);
    }
}

void map_remove_if(struct map *map, int (*gone)(uint64_t key, uint64_t value, void *argument), void *argument)
{
    for (uint32_t i = 0; i < MAP_STRIPES; i++) {
        struct map_stripe *stripe = &map->stripe[i];
        lock_take(&stripe->lock);
        struct table table = table_at(stripe->table);
        for (size_t at = 0; at < table.capacity; at++) {
            struct map_entry *entry = &table.at[at];
            if (is_key(entry->key) && gone(entry->key, entry->value, argument))
                change(stripe, entry, DELETED, 0);
        }
        lock_drop(&stripe->lock);
    }
}

void map_reset(struct map *map)
{
    memset(map, 0, sizeof *map);
}
