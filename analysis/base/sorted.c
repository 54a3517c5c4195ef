/* SPDX-License-Identifier: Apache-2.0
 *
 * The sorted map as leaves of bounded size behind one sorted list of them. Called for every allocation and free of a trace,
 * and for pointers that nothing remembers. Leaves that few keys are left of become one, so memory goes with what is in it.
 * Must never exit.
 */
#include "analysis/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/table.h"

enum { LEAF = 128 };

struct sorted_leaf {
    uint32_t count;
    uint32_t value[LEAF];
    uint64_t key[LEAF];
};

/* The leaf that the key belongs to; of an empty map 0, which is none. */
static size_t leaf_of(const struct sorted *sorted, uint64_t key)
{
    size_t low = 0, high = sorted->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted->items[middle].first <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? low - 1 : 0;
}

/* How many of the leaf's keys are up to this one. */
static uint32_t up_to(const struct sorted_leaf *leaf, uint64_t key)
{
    uint32_t low = 0, high = leaf->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (leaf->key[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert_leaf(struct sorted *sorted, size_t at, uint64_t first)
{
    struct sorted_leaf *leaf = heap_bytes(sizeof *leaf);
    if (leaf == NULL || !TABLE_ADD(sorted)) {
        free(leaf);
        return false;
    }
    leaf->count = 0;
    memmove(&sorted->items[at + 1], &sorted->items[at], (sorted->count - 1 - at) * sizeof *sorted->items);
    sorted->items[at].first = first;
    sorted->items[at].leaf = leaf;
    return true;
}

/* Keys mostly come in rising order: then the new leaf begins empty, and the old one stays full. */
static bool split(struct sorted *sorted, size_t at, uint64_t key)
{
    uint32_t keep = at + 1 == sorted->count && key > sorted->items[at].leaf->key[LEAF - 1] ? LEAF : LEAF / 2;
    uint64_t first = keep == LEAF ? key : sorted->items[at].leaf->key[keep];
    if (!insert_leaf(sorted, at + 1, first))
        return false;
    struct sorted_leaf *old = sorted->items[at].leaf, *made = sorted->items[at + 1].leaf;
    made->count = LEAF - keep;
    old->count = keep;
    memcpy(made->key, old->key + keep, made->count * sizeof *made->key);
    memcpy(made->value, old->value + keep, made->count * sizeof *made->value);
    return true;
}

static void put_at(struct sorted_leaf *leaf, uint32_t place, uint64_t key, uint32_t value)
{
    memmove(&leaf->key[place + 1], &leaf->key[place], (leaf->count - place) * sizeof *leaf->key);
    memmove(&leaf->value[place + 1], &leaf->value[place], (leaf->count - place) * sizeof *leaf->value);
    leaf->key[place] = key;
    leaf->value[place] = value;
    leaf->count++;
}

bool sorted_put(struct sorted *sorted, uint64_t key, uint32_t value)
{
    if (sorted->count == 0 && !insert_leaf(sorted, 0, key))
        return false;
    size_t at = leaf_of(sorted, key);
    struct sorted_leaf *leaf = sorted->items[at].leaf;
    uint32_t place = up_to(leaf, key);
    if (place != 0 && leaf->key[place - 1] == key) {
        leaf->value[place - 1] = value;
        return true;
    }
    if (leaf->count == LEAF) {
        if (!split(sorted, at, key))
            return false;
        at = leaf_of(sorted, key);
        leaf = sorted->items[at].leaf;
        place = up_to(leaf, key);
    }
    if (key < sorted->items[at].first)
        sorted->items[at].first = key;
    put_at(leaf, place, key, value);
    return true;
}

bool sorted_up_to(const struct sorted *sorted, uint64_t key, struct sorted_entry *out)
{
    size_t at = leaf_of(sorted, key);
    uint32_t place = sorted->count != 0 ? up_to(sorted->items[at].leaf, key) : 0;
    if (place == 0) { /* the leaf's first keys may be gone */
        if (at == 0)
            return false;
        place = sorted->items[--at].leaf->count;
    }
    const struct sorted_leaf *leaf = sorted->items[at].leaf;
    *out = (struct sorted_entry){leaf->key[place - 1], leaf->value[place - 1]};
    return true;
}

bool sorted_above(const struct sorted *sorted, uint64_t key, struct sorted_entry *out)
{
    size_t at = leaf_of(sorted, key);
    uint32_t place = sorted->count != 0 ? up_to(sorted->items[at].leaf, key) : 0;
    if (at < sorted->count && place == sorted->items[at].leaf->count) {
        at++;
        place = 0;
    }
    if (at >= sorted->count)
        return false;
    const struct sorted_leaf *leaf = sorted->items[at].leaf;
    *out = (struct sorted_entry){leaf->key[place], leaf->value[place]};
    return true;
}

static void drop_leaf(struct sorted *sorted, size_t at)
{
    free(sorted->items[at].leaf);
    sorted->count--;
    memmove(&sorted->items[at], &sorted->items[at + 1], (sorted->count - at) * sizeof *sorted->items);
}

/* The leaf takes over the next one's, if both together are few. */
static void merge(struct sorted *sorted, size_t at)
{
    if (at + 1 >= sorted->count)
        return;
    struct sorted_leaf *leaf = sorted->items[at].leaf;
    const struct sorted_leaf *next = sorted->items[at + 1].leaf;
    if (leaf->count + next->count > LEAF / 2)
        return;
    memcpy(leaf->key + leaf->count, next->key, next->count * sizeof *leaf->key);
    memcpy(leaf->value + leaf->count, next->value, next->count * sizeof *leaf->value);
    leaf->count += next->count;
    drop_leaf(sorted, at + 1);
}

void sorted_remove(struct sorted *sorted, uint64_t key)
{
    size_t at = leaf_of(sorted, key);
    struct sorted_leaf *leaf = sorted->count != 0 ? sorted->items[at].leaf : NULL;
    uint32_t place = leaf != NULL ? up_to(leaf, key) : 0;
    if (place == 0 || leaf->key[place - 1] != key)
        return;
    leaf->count--;
    memmove(&leaf->key[place - 1], &leaf->key[place], (leaf->count + 1 - place) * sizeof *leaf->key);
    memmove(&leaf->value[place - 1], &leaf->value[place], (leaf->count + 1 - place) * sizeof *leaf->value);
    if (leaf->count == 0) {
        drop_leaf(sorted, at);
    } else if (leaf->count < LEAF / 4) {
        merge(sorted, at);
        if (at != 0)
            merge(sorted, at - 1);
    }
}

void sorted_free(struct sorted *sorted)
{
    for (size_t i = 0; i < sorted->count; i++)
        free(sorted->items[i].leaf);
    free(sorted->items);
    *sorted = (struct sorted){0};
}
