/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for pointers in memory that the host fills without a call. Called by launches, seldom: for kernels whose parameters
 * have no types.
 */
#include "interpose/base/peek.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/tables.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

int tables_is_hosts(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_MANAGED || memory->kind == PTDS_MEMORY_PINNED ||
           memory->kind == PTDS_MEMORY_REGISTERED || (memory->kind == PTDS_MEMORY_GLOBAL && memory->host & 1) ||
           memory->host & MEMORY_HOSTS;
}

/* So much of the host's memory is looked through at a launch; more is opaque. */
enum { LOOK_AT_MOST = 4096 };

/* Managed memory is not read here: its pages would move to the host. */
int tables_look(struct thread *thread, struct touched *touched, struct memory *memory, int later)
{
    if (!tables_is_hosts(memory))
        return tables_seen(memory);
    uint64_t base = LOAD(memory->base), bytes = LOAD(memory->bytes);
    uint8_t at[LOOK_AT_MOST];
    if (later || LOAD(*memories_unseen(memory)) || bytes > sizeof at || memory->kind == PTDS_MEMORY_MANAGED ||
        memory->kind == PTDS_MEMORY_GLOBAL || memory->host & MEMORY_HOSTS || !peek(base, at, bytes))
        return 0;
    struct pointed found = {0, 0, NULL, 0, 0};
    struct pointers pointers;
    pointers_begin(&pointers, at, bytes);
    while (pointers_next(&pointers, thread, &found) != SIZE_MAX) {
        if (!found.memory)
            return 0;
        touch_whole(touched, found.memory, (int)found.writes);
    }
    return !pageable_is_read() || !pageable_among(thread, at, -base % 8, bytes);
}
