/* SPDX-License-Identifier: Apache-2.0
 *
 * Of some memory all pointers that lie in it are known: device memory that nothing was written to yet, or that was filled
 * with bytes that were seen, and that kernels wrote only where their parameters said that it may hold pointers, since those
 * note theirs. Such memory has a table of its own, or none as long as there are no pointers in it. For tables.c.
 */
#ifndef PTDS_KNOWN_H
#define PTDS_KNOWN_H

#include "interpose/footprint/tables.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

extern uint32_t known_unknown_works; /* grows with work that may have put pointers anywhere */

static inline struct table *known_table(struct memory *memory)
{
    return __atomic_load_n(memories_table(memory), __ATOMIC_ACQUIRE);
}

/* That, or that it was so before work that nobody saw through. */
static inline int known_some(struct memory *memory)
{
    return LOAD(((struct memory_object *)memory)->known_since) != 0;
}

/* All pointers that lie in it are in its table. */
static inline int known_all(struct memory *memory)
{
    return LOAD(((struct memory_object *)memory)->known_since) == LOAD(known_unknown_works);
}

void known_set(struct memory *memory);

/* As of now: somebody relies on there being no such work from here on. */
uint32_t known_now(void);

static inline void known_no_more(struct memory *memory)
{
    if (known_some(memory))
        STORE(((struct memory_object *)memory)->known_since, 0);
}

#endif
