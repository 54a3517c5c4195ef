/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that look-ups find without a lock, and that are gone: they wait in a queue until some others have gone after
 * them, so that a thread which is just following their links is not led astray; then they serve again. Uids tell an
 * object's lives apart. Requires the lock that the queue belongs to.
 */
#ifndef PTDS_RETIRED_H
#define PTDS_RETIRED_H

#include <stddef.h>
#include <stdint.h>

/* A member of the object. */
struct retired {
    struct retired *next;
};

struct retirees {
    uint32_t kept; /* so many always wait */
    uint32_t count;
    struct retired *first, *last;
};

static inline void retired_add(struct retirees *all, struct retired *one)
{
    one->next = NULL;
    *(all->count++ ? &all->last->next : &all->first) = one;
    all->last = one;
}

/* The object that has waited longest; `offset` is its member's, in bytes. NULL while too few wait. Its content is as it
 * was. */
static inline void *retired_take(struct retirees *all, size_t offset)
{
    struct retired *one = all->first;
    if (all->count <= all->kept)
        return NULL;
    all->first = one->next;
    all->count--;
    return (char *)one - offset;
}

/* In a forked child. */
static inline void retired_forget(struct retirees *all)
{
    all->count = 0;
    all->first = all->last = NULL;
}

#endif
