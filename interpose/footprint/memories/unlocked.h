/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields that are written under a lock and read without one, and lists of objects that serve again: what a reader may still
 * look at is never given back to the system.
 */
#ifndef PTDS_UNLOCKED_H
#define PTDS_UNLOCKED_H

#include "interpose/base/pages.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* An object of a list of free ones, or else new memory, zeros; NULL: there is no memory. Requires the list's lock. */
#define TAKE(list) \
    __extension__({ \
        __typeof__(list) taken = list; \
        if (taken) \
            list = taken->next_free; \
        else \
            taken = pages_keep(sizeof *taken); \
        taken; \
    })

/* Puts the object into the list of free ones. Requires the list's lock. */
#define GIVE(list, item) \
    do { \
        (item)->next_free = list; \
        list = item; \
    } while (0)

#endif
