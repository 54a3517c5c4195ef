/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges in order of their addresses; for memories.c alone, which has the lock and knows when a reader met a change.
 */
#ifndef PTDS_RANGES_H
#define PTDS_RANGES_H

#include "interpose/base/pages.h"
#include "interpose/footprint/memories.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* Takes from a list of free ones, or new memory. */
#define TAKE(list) \
    __extension__({ \
        __typeof__(list) taken = list; \
        if (taken) \
            list = taken->next_free; \
        else \
            taken = pages_keep(sizeof *taken); \
        taken; \
    })
#define GIVE(list, item) \
    do { \
        (item)->next_free = list; \
        list = item; \
    } while (0)

/* The last range that starts at or before the address. For any thread: what it finds holds if nothing changed meanwhile. */
struct range *ranges_before(uint64_t address);

/* The others: locked. 0: there was no memory for it. */
int ranges_insert(uint64_t first, struct range *range);

/* The range that starts exactly here leaves. */
void ranges_take_out(uint64_t first);

/* Some range of the memory; walks all there are. */
struct range *ranges_of(const struct memory *memory);

/* There are none any more. */
void ranges_forget(void);

#endif
