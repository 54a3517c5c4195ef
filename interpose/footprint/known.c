/* SPDX-License-Identifier: Apache-2.0
 *
 * Remembers of which memory all pointers are known (known.h). Called by tables.c and by the wrappers of allocating calls,
 * without a lock.
 */
#include "interpose/footprint/known.h"

uint32_t known_unknown_works = 1;
static uint32_t relied; /* since the last of them somebody relies on there being none */

uint32_t tables_some;
static uint32_t others; /* kernels were launched that nobody looked after */

void tables_begin(void)
{
    if (LOAD(tables_some))
        return;
    if (LOAD(others))
        __atomic_add_fetch(&known_unknown_works, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&tables_some, 1, __ATOMIC_RELEASE);
}

void tables_kernel(int classes)
{
    if (classes)
        tables_begin();
    else
        STORE(others, 1);
}

uint32_t known_now(void)
{
    uint32_t works = LOAD(known_unknown_works);
    STORE(relied, 1);
    return works;
}

void known_set(struct memory *memory)
{
    STORE(((struct memory_object *)memory)->known_since, known_now());
}

void tables_made(struct memory *memory)
{
    known_set(memory);
}

void tables_unknown_work(void)
{
    if (!LOAD(relied))
        return;
    STORE(relied, 0);
    __atomic_add_fetch(&known_unknown_works, 1, __ATOMIC_RELEASE);
}
