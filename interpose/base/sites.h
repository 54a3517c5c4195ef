/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts on call sites by the object that they lie in, kept by return address, since finding the object is slow.
 */
#ifndef PTDS_SITES_H
#define PTDS_SITES_H

#include <stdint.h>

/* Return address << 2 | verdict, in one word, so that a reader never sees half an entry. An object loaded where another
 * was unloaded keeps that one's verdict. */
enum { SITES = 1024 };
struct sites {
    uintptr_t word[SITES];
};

/* decide() answers 0 to 3. Any thread; takes no lock of its own. */
static inline int sites_verdict(struct sites *sites, const void *caller, int (*decide)(const void *caller))
{
    uintptr_t address = (uintptr_t)caller;
    uintptr_t *slot = &sites->word[(address * 2654435761u >> 8) % SITES];
    uintptr_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (__builtin_expect(seen >> 2 == address, 1))
        return (int)(seen & 3);
    int verdict = decide(caller);
    __atomic_store_n(slot, address << 2 | (uintptr_t)verdict, __ATOMIC_RELAXED);
    return verdict;
}

#endif
