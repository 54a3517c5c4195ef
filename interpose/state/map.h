/* SPDX-License-Identifier: Apache-2.0
 *
 * A map from 64-bit keys to 64-bit values for handles and addresses: striped, each stripe an open-addressing table of its
 * own, grown by pages from the kernel. Changed under the stripe's lock, read without one.
 */
#ifndef PTDS_MAP_H
#define PTDS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/base/lock.h"

#define MAP_STRIPES 64u

struct map_entry {
    uint64_t key; /* 0 free, UINT64_MAX deleted: neither is a handle or an address */
    uint64_t value;
};

struct map {
    struct map_stripe {
        struct lock lock;
        uint32_t changes; /* odd: it is changing */
        uint32_t used;    /* slots not free, deleted ones included */
        /* Pages of entries, and in the lowest bits the binary logarithm of how many there are; 0 none. */
        uintptr_t table;
        uintptr_t spare; /* the one before, empty: readers may still be in it */
    } stripe[MAP_STRIPES];
};

/* Sets a value; finds it (0: absent; takes no lock, but where a change takes long); removes it (returns the value, 0: there
 * was none). Any thread. Without memory nothing is set. */
void map_set(struct map *map, uint64_t key, uint64_t value);
uint64_t map_get(struct map *map, uint64_t key);
uint64_t map_remove(struct map *map, uint64_t key);

/* The value that the key has; sets it to `value` where it has none. 0 if there was no memory. */
uint64_t map_get_or_set(struct map *map, uint64_t key, uint64_t value);

/* Adds the amount to the value of a present key and returns the new value; 0: absent. */
uint64_t map_add(struct map *map, uint64_t key, uint64_t amount);

/* Removes everything. Any thread. */
void map_clear(struct map *map);

/* Removes the entries for which gone() returns 1. gone() runs under a stripe's lock: it must not change the map. */
void map_remove_if(struct map *map, int (*gone)(uint64_t key, uint64_t value, void *argument), void *argument);

/* Forgets everything; for a forked child, where another thread may have held a lock. */
void map_reset(struct map *map);

#endif
