/* SPDX-License-Identifier: Apache-2.0
 *
 * The pointers among some bytes that are to lie in memory, one after the other.
 */
#ifndef PTDS_POINTERS_H
#define PTDS_POINTERS_H

#include "interpose/footprint/memories.h"
#include "interpose/footprint/scan.h"

/* To a memory, in the bytes [begin, end) of another one. */
struct pointed {
    uint64_t begin, end;
    struct memory *memory;
    uint32_t uid; /* the memory's; another one means that it is gone */
    uint32_t writes;
};

struct pointers {
    struct scan of[SPANS + 2]; /* memories, and handles of textures, of surfaces: a number may be one of each */
    struct memory *also;       /* what the last word points to besides; NULL nothing */
    size_t also_at;
};

/* The bytes are the caller's, and stay until the last one is found. */
void pointers_begin(struct pointers *pointers, const uint8_t *bytes, size_t size);

/* The next one's place; SIZE_MAX: there is none. begin and end are not filled in; without a memory it may point at
 * anything. */
size_t pointers_next(struct pointers *pointers, struct thread *thread, struct pointed *found);

#endif
