/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation that remembers that it failed. Called by all that a report is made of, also inside a traced process at its
 * exit: must never exit, abort or print.
 */
#include "analysis/base/heap.h"

#include <stdlib.h>

static uint64_t refusals;

static void *counted(void *block)
{
    if (block == NULL)
        __atomic_add_fetch(&refusals, 1, __ATOMIC_RELAXED);
    return block;
}

void *heap_zeroed(size_t count, size_t size)
{
    return counted(calloc(count, size));
}

void *heap_bytes(size_t size)
{
    return counted(malloc(size));
}

void *heap_resized(void *block, size_t size)
{
    return counted(realloc(block, size));
}

uint64_t heap_refusals(void)
{
    return __atomic_load_n(&refusals, __ATOMIC_RELAXED);
}
