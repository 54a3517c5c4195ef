/* SPDX-License-Identifier: Apache-2.0
 *
 * Scratch memory that is given back all at once.
 */
#ifndef PTDS_CODE_ARENA_H
#define PTDS_CODE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks;
    size_t used, limit; /* bytes; more than limit is refused */
};

/* So many bytes, zeroed, aligned to 16; NULL: there is no memory, or the limit is reached. */
void *arena_get(struct arena *arena, size_t bytes);

/* All of it, at once. */
void arena_free(struct arena *arena);

#endif
