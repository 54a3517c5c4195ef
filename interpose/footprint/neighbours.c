/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memories a pointer may mean that is not just where one begins: arrays may count from one, or run to their end.
 * Called by launches that are not plain, and for pointers that lie in memory.
 */
#include "interpose/footprint/memories.h"
#include "interpose/footprint/reservations.h"

/* Ranges lie one behind the other: from the last that begins near enough to the first that ends near enough, but for the
 * one where the address lies. */
static unsigned beside(uint64_t address, const struct place *in, struct memory **found, unsigned most)
{
    unsigned count = 0;
    uint64_t last = address + MEMORIES_NEAR >= address ? address + MEMORIES_NEAR : UINT64_MAX;
    for (;;) {
        struct place place = memories_last_at(last);
        if (!place.memory || (place.end < address && address - place.end > MEMORIES_NEAR))
            break;
        if (!in->memory || place.begin != in->begin) {
            if (count == most)
                return most + 1;
            found[count++] = place.memory;
        }
        if (!place.begin)
            break;
        last = place.begin - 1;
    }
    return count;
}

unsigned memories_around(struct thread *thread, uint64_t address, struct memory **found, unsigned most)
{
    struct place place = memories_find(thread, address);
    struct memory *in = place.memory ? place.memory : reservations_at(address);
    if (!in && address)
        in = reservations_at(address - 1);
    if (in)
        found[0] = in;
    unsigned count = in != NULL;
    if (place.memory && place.begin == address)
        return count;
    return count + beside(address, &place, found + count, most - count);
}
