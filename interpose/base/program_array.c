/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the arrays of a call are there. Called before calls that bring lists of operations, by footprint/ and by the
 * wrappers. Must neither fault nor allocate, and must end soon whatever the count is.
 */
#include "interpose/base/program_array.h"

#include "interpose/base/peek.h"

enum { PAGE = 4096 };
static const size_t most = (size_t)64 << 20; /* bytes */

/* A byte of each page, from the first to the last. */
static int can_be_read(uint64_t first, uint64_t last)
{
    uint64_t places[PEEK_PLACES];
    uint8_t bytes[PEEK_PLACES];
    for (uint64_t at = first; at <= last;) {
        int count = 0;
        for (; count < PEEK_PLACES && at <= last; at = (at & ~(uint64_t)(PAGE - 1)) + PAGE)
            places[count++] = at;
        if (!peek_places(places, count, bytes, 1))
            return 0;
    }
    return 1;
}

int program_array_is_readable(const void *array, size_t element, size_t count)
{
    uint64_t first = (uint64_t)(uintptr_t)array;
    if (!array || count > most / element || first > UINT64_MAX - most)
        return 0;
    return count == 0 || can_be_read(first, first + element * count - 1);
}
