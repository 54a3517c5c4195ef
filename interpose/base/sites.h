/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts on callers by the object that they lie in. Finding the object is slow, so verdicts are kept, by return address
 * and by object.
 */
#ifndef PTDS_SITES_H
#define PTDS_SITES_H

#include <stdint.h>

#include "interpose/base/elf.h"

enum { SITES = 1024, SITE_OBJECTS = 256 };

/* One kind of verdict; a static one is ready for use. An object loaded where another was unloaded keeps that one's. */
struct sites {
    uintptr_t word[SITES]; /* return address << 2 | verdict, in one word, so that a reader never sees half an entry */
    struct site_object {
        uintptr_t base, end;
        int verdict;
    } object[SITE_OBJECTS];
    uint32_t objects;
    uint32_t keeping; /* 1: a thread adds an object; another one that wants to does without */
};

/* The verdict, 0 to 3, on the object that contains the caller; NULL: none does, generated code. Any thread. */
typedef int sites_decide(const struct elf_object *object, const void *caller);

int sites_find(struct sites *sites, const void *caller, sites_decide *decide);

static inline int sites_verdict(struct sites *sites, const void *caller, sites_decide *decide)
{
    uintptr_t address = (uintptr_t)caller;
    uintptr_t seen = __atomic_load_n(&sites->word[(address * 2654435761u >> 8) % SITES], __ATOMIC_RELAXED);
    return __builtin_expect(seen >> 2 == address, 1) ? (int)(seen & 3) : sites_find(sites, caller, decide);
}

#endif
