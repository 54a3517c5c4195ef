/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells a driver that asks for it what a launch was found to touch: the simulated one, which compares each access of the
 * kernel with that. Called before launches, and on no real driver.
 */
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/memories.h"

enum { CLAIMED = 512 };
struct claim {
    unsigned count;
    int everything;
    struct driver_range range[CLAIMED];
};

static void add(struct claim *claim, uint64_t begin, uint64_t end, uint32_t writes)
{
    if (claim->count == CLAIMED)
        claim->everything = 1;
    else
        claim->range[claim->count++] = (struct driver_range){begin, end, writes};
}

/* Its own range is all that there is of it. */
static int has_one_range(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_DEVICE || memory->kind == PTDS_MEMORY_POOL || memory->kind == PTDS_MEMORY_ARRAY;
}

/* Where it began, and every other range that it is mapped at. */
static void add_memory(struct claim *claim, const struct access *access)
{
    const struct memory *memory = access->memory;
    if (memory->kind == PTDS_MEMORY_GLOBAL)
        add(claim, 0, 0, access->writes);
    if (memory->base)
        add(claim, memory->base, memory->base + (memory->bytes ? memory->bytes : 1), access->writes);
    if (has_one_range(memory))
        return;
    struct place place = memories_last_of(memory, UINT64_MAX);
    for (; place.memory && !claim->everything; place = memories_last_of(memory, place.begin - 1))
        add(claim, place.begin, place.end, access->writes);
}

void fp_claim_slow(const struct call *C)
{
    struct claim claim;
    claim.count = 0;
    claim.everything = C->touched.opaque != 0;
    for (unsigned i = 0; i < C->touched.count && !claim.everything; i++)
        add_memory(&claim, &C->touched.at[i]);
    driver_wants_claims(claim.range, claim.count, claim.everything);
}
