/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memories the bytes of a call lie in. Called by copies, and by calls that name addresses, before the driver has the
 * call. Must not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/memories/side.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/state/call_words.h"
#include "interpose/state/capture.h"

/* The driver knows every pointer that is not to plain host memory. */
enum ptds_memory_kind side_any_kind(const struct memory_range *range, uint64_t address)
{
    unsigned type = 0;
    enum ptds_memory_kind pinned = side_host_kind(range);
    if (pinned != PTDS_MEMORY_PAGEABLE)
        return pinned;
    if (capture_any() || !driver.cuPointerGetAttribute)
        return PTDS_MEMORY_UNKNOWN;
    if (ASK(driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) != CUDA_SUCCESS)
        return PTDS_MEMORY_PAGEABLE;
    return type == CU_MEMORYTYPE_DEVICE ? PTDS_MEMORY_DEVICE : PTDS_MEMORY_PINNED;
}

/* Adds the addresses in the reservation, besides the chunk: one access, however many chunks the copy has. */
static __attribute__((noinline)) void touch_addresses(struct call *C, struct memory *chunk, uint64_t begin, uint64_t end,
                                                      int writes)
{
    struct memory *memory = memory_object_reservation(chunk);
    for (unsigned i = 0; memory && i < C->touched.count; i++) {
        struct access *access = &C->touched.at[i];
        if (access->memory == memory && access->end == begin && access->writes == (uint32_t)writes) {
            access->end = end;
            return;
        }
    }
    if (memory)
        touch_memory(&C->touched, memory, begin, end, writes);
}

static inline void touch_range(struct call *C, const struct memory_range *range, uint64_t begin, uint64_t end, int writes)
{
    touch_memory(&C->touched, range->memory, begin + range->shift, end + range->shift, writes);
    if (__builtin_expect(range->memory->host & MEMORY_RESERVED, 0))
        touch_addresses(C, range->memory, begin, end, writes);
}

/* The memories under a range, one after the other; several where chunks are mapped side by side. */
static void touch_rest(struct call *C, struct memory_range range, uint64_t begin, uint64_t end, int writes)
{
    while (range.memory && end > range.end) {
        touch_range(C, &range, begin, range.end, writes);
        begin = range.end;
        range = lookup_range(C->thread, begin);
    }
    if (range.memory)
        touch_range(C, &range, begin, end, writes);
    else
        touch_memory_opaque(&C->touched, OPAQUE_OTHER);
}

/* The array may be a part of another one, whose uid the record has besides. */
static __attribute__((noinline)) void touch_array(struct call *C, uint64_t handle, int writes)
{
    const struct memory *memory = array_handles_get(handle);
    array_handles_touch(&C->touched, handle, writes);
    if (memory && C->enter && C->op == PTDS_OP_COPY)
        call_words_reaches(C, memory->uid, writes);
}

void side_touch(struct call *C, const struct side *side, uint64_t bytes, int writes)
{
    if (bytes == 0)
        return;
    if (side->kind == PTDS_MEMORY_ARRAY)
        touch_array(C, side->address, writes);
    else if (side->range.memory)
        touch_rest(C, side->range, side->address, side->address + bytes, writes);
    else if (side->kind != PTDS_MEMORY_PAGEABLE)
        touch_memory_opaque(&C->touched, OPAQUE_OTHER);
}

void side_touch_bytes(struct call *C, uint64_t base, uint64_t bytes, int writes)
{
    struct side side = side_at(C, SIDE_DEVICE, base);
    side_touch(C, &side, bytes, writes);
}

void side_touch_either(struct call *C, uint64_t address, uint64_t bytes, int writes)
{
    struct side side = side_at(C, SIDE_ANY, address);
    side_touch(C, &side, bytes, writes);
}
