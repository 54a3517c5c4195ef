/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of hand-over objects, by address. Called for every lock of the process, so a look-up that finds nothing, which
 * is nearly all of them, reads one cache line. Must not allocate, and must never lose what an object carries: where a new
 * object takes an old one's place, the old one's load goes to the bucket's spare, which whoever misses in that bucket takes
 * too. That makes order that nobody asked for, never too little.
 */
#include "interpose/handover/objects.h"

#include <string.h>

#include "interpose/base/lock.h"

enum { BUCKETS = 1024, PLACES = 8, LOG = 64 };

/* The keys of a bucket fill a line. */
static uintptr_t keys[BUCKETS][PLACES] __attribute__((aligned(64)));
static struct bucket {
    struct lock lock;
    uint8_t spared;       /* the spare carries something */
    uint8_t used[PLACES]; /* more than once since the last search for a place */
    uint8_t hand;
} buckets[BUCKETS];
static struct clocks carried[BUCKETS][PLACES + 1]; /* the last is the spare */

uint32_t objects_converted;
static uintptr_t converted[LOG];
static struct lock converting;

static uint32_t bucket_of(uintptr_t object)
{
    return (uint32_t)((uint64_t)(object >> 3) * 0x9e3779b97f4a7c15ull >> 54) % BUCKETS;
}

static int place_of(uint32_t bucket, uintptr_t object)
{
    for (int i = 0; i < PLACES; i++)
        if (__atomic_load_n(&keys[bucket][i], __ATOMIC_RELAXED) == object)
            return i;
    return -1;
}

int objects_known(uintptr_t object)
{
    uint32_t bucket = bucket_of(object);
    return place_of(bucket, object) >= 0 || __atomic_load_n(&buckets[bucket].spared, __ATOMIC_RELAXED);
}

/* Under the lock: a place for one more object, if need be that of one that was not used again for long. */
static int make_place(uint32_t bucket)
{
    struct bucket *b = &buckets[bucket];
    int place = place_of(bucket, 0);
    if (place >= 0)
        return place;
    while (b->used[b->hand]) {
        b->used[b->hand] = 0;
        b->hand = (b->hand + 1) % PLACES;
    }
    place = b->hand;
    b->hand = (b->hand + 1) % PLACES;
    if (!clocks_empty(&carried[bucket][place])) {
        clocks_merge(&carried[bucket][PLACES], &carried[bucket][place]);
        __atomic_store_n(&b->spared, 1, __ATOMIC_RELAXED);
    }
    return place;
}

static int insert(uint32_t bucket, uintptr_t object)
{
    int place = make_place(bucket);
    carried[bucket][place] = (struct clocks){0};
    __atomic_store_n(&keys[bucket][place], object, __ATOMIC_RELAXED);
    return place;
}

static int give(uintptr_t object, const struct clocks *known, int may_insert)
{
    uint32_t bucket = bucket_of(object);
    lock_take(&buckets[bucket].lock);
    int place = place_of(bucket, object), inserted = place < 0 && may_insert;
    if (inserted)
        place = insert(bucket, object);
    if (place >= 0) {
        clocks_merge(&carried[bucket][place], known);
        buckets[bucket].used[place] = !inserted;
    }
    lock_drop(&buckets[bucket].lock);
    return inserted;
}

void objects_give(uintptr_t object, const struct clocks *known)
{
    if (place_of(bucket_of(object), object) >= 0)
        give(object, known, 0);
}

int objects_insert(uintptr_t object, const struct clocks *known)
{
    return give(object, known, 1);
}

int objects_take(uintptr_t object, struct clocks *known)
{
    uint32_t bucket = bucket_of(object);
    if (!objects_known(object))
        return 0;
    lock_take(&buckets[bucket].lock);
    int place = place_of(bucket, object);
    int news = clocks_merge(known, &carried[bucket][place >= 0 ? place : PLACES]);
    if (place >= 0)
        buckets[bucket].used[place] = 1;
    lock_drop(&buckets[bucket].lock);
    return news;
}

void objects_convert(uintptr_t mutex)
{
    lock_take(&converting);
    converted[objects_converted % LOG] = mutex;
    __atomic_store_n(&objects_converted, objects_converted + 1, __ATOMIC_RELEASE);
    lock_drop(&converting);
}

/* Too many conversions to have kept them all: any mutex of the table may be one. */
static int take_all(int (*locked)(uintptr_t), struct clocks *known)
{
    int news = 0;
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        for (int i = 0; i < PLACES; i++) {
            uintptr_t object = __atomic_load_n(&keys[bucket][i], __ATOMIC_RELAXED);
            if (object && locked(object))
                news |= objects_take(object, known);
        }
    }
    return news;
}

int objects_take_converted(uint32_t *seen, int (*locked)(uintptr_t), struct clocks *known)
{
    uintptr_t recent[LOG];
    lock_take(&converting);
    uint32_t now = objects_converted, count = now - *seen;
    for (uint32_t i = 0; i < count && count <= LOG; i++)
        recent[i] = converted[(*seen + i) % LOG];
    *seen = now;
    lock_drop(&converting);
    if (count > LOG)
        return take_all(locked, known);
    int news = 0;
    for (uint32_t i = 0; i < count; i++)
        news |= locked(recent[i]) && objects_take(recent[i], known);
    return news;
}

void handover_objects_after_fork(void)
{
    memset(keys, 0, sizeof keys);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        if (buckets[i].spared)
            carried[i][PLACES] = (struct clocks){0};
        buckets[i] = (struct bucket){.lock = {0}};
    }
    objects_converted = 0;
    converting.held = 0;
}
