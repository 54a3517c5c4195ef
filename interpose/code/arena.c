/* SPDX-License-Identifier: Apache-2.0
 *
 * Scratch memory for reading one kernel: pages by the system, no malloc, for the shim reads kernels inside the program's
 * calls.
 */
#include "interpose/code/arena.h"

#include "interpose/base/pages.h"

struct arena_block {
    struct arena_block *next;
    size_t bytes, used;
};

enum { BLOCK = 256 << 10, HEAD = 32 };

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    size_t size = bytes + HEAD > BLOCK ? bytes + HEAD : BLOCK;
    if (size < bytes || size > arena->limit - arena->used)
        return NULL;
    struct arena_block *block = pages_map(size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    block->bytes = size;
    block->used = HEAD;
    arena->blocks = block;
    arena->used += size;
    return block;
}

void *arena_get(struct arena *arena, size_t bytes)
{
    size_t wanted = (bytes + 15) & ~(size_t)15;
    struct arena_block *block = arena->blocks;
    if (wanted < bytes)
        return NULL;
    if (!block || wanted > block->bytes - block->used)
        block = add_block(arena, wanted);
    if (!block)
        return NULL;
    void *got = (char *)block + block->used;
    block->used += wanted;
    return got;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        pages_unmap(block, block->bytes);
    }
    arena->used = 0;
}
