/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing arrays for everything in analysis/. No function here exits or aborts; a lack of memory is a return value, and
 * the array stays valid.
 */
#ifndef PTDS_ANALYSIS_BASE_TABLE_H
#define PTDS_ANALYSIS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes room for `need` items of `size` bytes. `items` is the array so far (may be NULL), *room its capacity in items.
 * Returns the array, perhaps moved, with the new part zeroed and *room raised; NULL without memory, and then `items`
 * and *room are as they were. The caller owns the array and frees it. */
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

/* Item `at` of an array {items, count, room}, which grows to hold it, with zeroed items between; NULL without memory. */
#define TABLE_AT(list, at) \
    ({ \
        size_t at_ = (at); \
        void *grown_ = table_grow((list)->items, &(list)->room, at_ + 1, sizeof *(list)->items); \
        if (grown_ != NULL) { \
            (list)->items = grown_; \
            if ((list)->count <= at_) \
                (list)->count = at_ + 1; \
        } \
        grown_ != NULL ? &(list)->items[at_] : NULL; \
    })

#define TABLE_LAST(list) (&(list)->items[(list)->count - 1])

/* Declares an array type for TABLE_ADD. */
#define TABLE_OF(type) \
    struct { \
        type *items; \
        size_t count; \
        size_t room; \
    }

/* One of 64 bits, by a hash of the number: for sets whose answer is "no" or "perhaps". */
static inline uint64_t bit_of(uint64_t number)
{
    return UINT64_C(1) << (number * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

#ifdef __cplusplus
}
#endif
#endif
