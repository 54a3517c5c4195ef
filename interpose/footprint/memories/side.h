/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of a copy, or bytes that a call names: which kind of memory they lie in, and that the call touches them. May ask
 * the driver, never while a capture is open.
 */
#ifndef PTDS_SIDE_H
#define PTDS_SIDE_H

#include "interpose/footprint/memories/lookup.h"
#include "interpose/state/call.h"

/* What a copy's name says of a side. A host address that belongs to no memory is pageable, and the caller's own. */
enum side_type { SIDE_HOST, SIDE_DEVICE, SIDE_ARRAY, SIDE_ANY };

struct side {
    enum ptds_memory_kind kind;
    uint8_t hosts;    /* it was named as host memory */
    uint64_t address; /* of the first byte; an array's handle */
    struct memory_range range;
};

/* The kind of the memory of a host address. */
static inline enum ptds_memory_kind side_host_kind(const struct memory_range *range)
{
    if (!range->memory)
        return PTDS_MEMORY_PAGEABLE;
    return (enum ptds_memory_kind)__atomic_load_n(&range->memory->kind, __ATOMIC_RELAXED);
}

/* The kind of any address, whose range is found already; PTDS_MEMORY_UNKNOWN where the driver must not be asked. */
enum ptds_memory_kind side_any_kind(const struct memory_range *range, uint64_t address);

/* The side that begins at this address, or is the array of this handle. */
static inline struct side side_at(struct call *C, enum side_type type, uint64_t address)
{
    struct side side = {PTDS_MEMORY_ARRAY, type == SIDE_HOST, address, {NULL, 0, 0, 0}};
    if (type == SIDE_ARRAY)
        return side;
    side.range = lookup_range(C->thread, address);
    side.kind = type == SIDE_HOST     ? side_host_kind(&side.range)
                : type == SIDE_DEVICE ? PTDS_MEMORY_DEVICE
                                      : side_any_kind(&side.range, address);
    return side;
}

/* C touches `bytes` bytes of the side from its address on, or its array; nothing if there are none. Bytes in no memory make
 * the call opaque, but for plain host memory, which is the caller's own. */
void side_touch(struct call *C, const struct side *side, uint64_t bytes, int writes);

/* C touches the bytes, whatever memories they lie in; everything if in none. */
void side_touch_bytes(struct call *C, uint64_t base, uint64_t bytes, int writes);

/* The same where the address may as well be plain host memory. */
void side_touch_either(struct call *C, uint64_t address, uint64_t bytes, int writes);

#endif
