/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory that is mapped (cuMemMap). Called by the wrappers, on cold paths. Must not call the driver.
 */
#include "interpose/footprint/allocations/mappings.h"

#include "interpose/base/program_array.h"
#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/physical.h"
#include "interpose/footprint/allocations/reserve.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/memories/side.h"
#include "interpose/state/call_words.h"
#include "interpose/state/hooks.h"
#include "interpose/state/uids.h"

static int learns(const struct call *C)
{
    return C->footprint && C->result == CUDA_SUCCESS;
}

void mappings_add(struct call *C, enum ptds_memory_kind kind, uint64_t handle, uint64_t base, uint64_t bytes,
                  uint64_t offset)
{
    struct memory *memory = physical_memory(handle, kind, base - offset, bytes);
    if (!memory)
        return;
    uint32_t uid = memory_object_is_mapped(memory) ? uids_next(OBJECT_MEMORY) : memory->uid;
    reserve_mapped(memory, base, bytes);
    addresses_map(memory, base, bytes, memory->base + offset);
    allocations_record(C, kind, base, bytes, uid);
    const struct memory *reservation = memory_object_reservation(memory);
    allocations_record_part(C, reservation ? reservation->uid : 0, uid != memory->uid ? memory->uid : 0);
}

void mappings_mapped(struct call *C, CUdeviceptr base, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle)
{
    if (learns(C))
        mappings_add(C, PTDS_MEMORY_MAPPED, (uint64_t)handle, base, bytes, offset);
}

void mappings_leave(struct call *C)
{
    STATE_TELL(memory_leaves, C);
    C->touched.count = 0;
    C->touched.opaque = C->touched.host = 0;
}

static void leaves(struct call *C, uint64_t base, uint64_t bytes, int writes)
{
    side_touch_bytes(C, base, bytes, writes);
    mappings_leave(C);
}

void mappings_access_changing(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count)
{
    int there = C->footprint && program_array_is_readable(list, sizeof *list, count), less = list && !there, none = less;
    for (size_t i = 0; there && i < count; i++) {
        less |= list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        none |= list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    if (C->footprint && less)
        leaves(C, base, bytes, none); /* where all may still read, only writes have to be done */
}

/* The addresses may be mapped anew before the call is back. The ranges wait in a word that is not recorded. */
void mappings_unmapping(struct call *C, CUdeviceptr base, size_t bytes)
{
    if (!C->footprint)
        return;
    struct memory_range range = lookup_range(C->thread, base);
    C->object = range.memory ? range.memory->uid : 0;
    call_words_object(C, PTDS_OP_UNMAP, base);
    leaves(C, base, bytes, 1); /* work may use the memory still of which the host was promised that it is done */
    C->word[1] = (uint64_t)addresses_take_out(base, bytes);
}

void mappings_unmapped(struct call *C)
{
    if (!C->footprint)
        return;
    if (C->result == CUDA_SUCCESS)
        addresses_give_back((struct range_entry *)C->word[1]);
    else
        addresses_put_back((struct range_entry *)C->word[1]);
}

void mappings_show(struct call *C, struct memory *memory)
{
    struct memory *reservation = memory_object_reservation(memory);
    reservations_mark(memory, 1);
    STATE_TELL(memory_shown, C, memory);
    if (reservation)
        STATE_TELL(memory_shown, C, reservation);
}

/* What was allowed once stays allowed here: the work that was put on streams meanwhile counts. */
void mappings_allowed(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count)
{
    int hosts = 0;
    for (size_t i = 0; learns(C) && list && i < count; i++)
        hosts |= physical_at_host(&list[i].location) && list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (uint64_t at = base; hosts && at - base < bytes;) {
        struct memory_range range = lookup_range(C->thread, at);
        if (!range.memory)
            break;
        mappings_show(C, range.memory);
        range.memory->host |= MEMORY_HOSTS;
        at = range.end;
    }
}
