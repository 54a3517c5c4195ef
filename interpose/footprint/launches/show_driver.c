/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists what a launch was found to touch, for the simulated driver. Called before launches. A real driver never asks.
 */
#include "interpose/footprint/launches/show_driver.h"

#include "interpose/footprint/memories/addresses.h"

enum { SHOWN_MOST = 512 };
struct shown {
    unsigned count;
    int everything;
    struct driver_range at[SHOWN_MOST];
};

static void add(struct shown *shown, uint64_t begin, uint64_t end, uint32_t writes)
{
    if (shown->count == SHOWN_MOST)
        shown->everything = 1;
    else
        shown->at[shown->count++] = (struct driver_range){begin, end, writes};
}

/* The memory has one range and can't get another. */
static int has_one_range(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_DEVICE || memory->kind == PTDS_MEMORY_POOL || memory->kind == PTDS_MEMORY_ARRAY;
}

/* Adds the range where the memory began, and every other range where it is mapped. */
static void add_memory(struct shown *shown, const struct access *access)
{
    const struct memory *memory = access->memory;
    if (access->end != UINT64_MAX) {
        add(shown, access->begin, access->end, access->writes);
        return;
    }
    if (memory->kind == PTDS_MEMORY_GLOBAL)
        add(shown, 0, 0, access->writes);
    if (memory->base)
        add(shown, memory->base, memory->base + (memory->bytes ? memory->bytes : 1), access->writes);
    if (has_one_range(memory))
        return;
    struct memory_range range = addresses_last_of(memory, UINT64_MAX);
    for (; range.memory && !shown->everything; range = addresses_last_of(memory, range.begin - 1))
        add(shown, range.begin, range.end, access->writes);
}

void show_driver_slow(const struct call *C)
{
    struct shown shown;
    shown.count = 0;
    shown.everything = C->touched.opaque != 0;
    for (unsigned i = 0; i < C->touched.count && !shown.everything; i++)
        add_memory(&shown, &C->touched.at[i]);
    driver_wants_claims(shown.at, shown.count, shown.everything);
}
