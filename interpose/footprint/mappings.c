/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that has a life apart from its addresses: physical memory that is mapped (cuMemMap), memory of other processes, of
 * pools and of other interfaces. The same memory mapped twice is one memory here. Called by the wrappers, on cold paths.
 */
#include "interpose/footprint/mappings.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/given.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/reservations.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"
#include "interpose/state/map.h"
#include "interpose/state/uids.h"

static struct map physical; /* CUmemGenericAllocationHandle, CUexternalMemory -> struct memory *, held */
static struct map retained; /* handle -> how often it must be released beside the last time */
static struct map opened;   /* address of another process's memory -> how often it was opened beside the first time */
static uint32_t exports;    /* memory of this process was handed out: what is imported may be its own */

static int learns(const struct call *C)
{
    return C->footprint && C->result == CUDA_SUCCESS;
}

/* The memory behind a handle, from its first use on. Its own addresses are those of the first mapping. */
static struct memory *behind(uint64_t handle, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = (struct memory *)map_get(&physical, handle);
    if (memory)
        return memory;
    memory = memories_new(kind, base, bytes);
    struct memory *agreed = memory ? (struct memory *)map_get_or_set(&physical, handle, (uint64_t)memory) : NULL;
    if (memory && agreed != memory)
        memories_drop(memory);
    return agreed;
}

static void map_at(struct call *C, enum ptds_memory_kind kind, uint64_t handle, uint64_t base, uint64_t bytes,
                   uint64_t offset)
{
    struct memory *memory = behind(handle, kind, base - offset, bytes);
    if (!memory)
        return;
    uint32_t uid = memories_is_mapped(memory) ? uids_next(OBJECT_MEMORY) : memory->uid;
    reservations_take(memory, base, bytes);
    memories_map(memory, base, bytes, memory->base + offset);
    footprint_record_alloc(C, kind, base, bytes, uid);
    const struct memory *reservation = memories_reservation(memory);
    footprint_record_part(C, reservation ? reservation->uid : 0, uid != memory->uid ? memory->uid : 0);
}

void mappings_created(struct call *C, const CUmemGenericAllocationHandle *handle, size_t bytes,
                      const CUmemAllocationProp *about)
{
    struct memory *memory = NULL;
    if (learns(C) && handle && about && touch_at_host(&about->location))
        memory = behind((uint64_t)*handle, PTDS_MEMORY_MAPPED, 0, bytes);
    if (memory)
        memory->host |= MEMORY_HOSTS | 1;
}

void mappings_mapped(struct call *C, CUdeviceptr base, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle)
{
    if (learns(C))
        map_at(C, PTDS_MEMORY_MAPPED, (uint64_t)handle, base, bytes, offset);
}

/* The call is no work on it: nothing of that is recorded. */
void mappings_leave(struct call *C)
{
    STATE_TELL(memory_leaves, C);
    C->touched.count = 0;
    C->touched.opaque = C->touched.host = 0;
}

static void leaves(struct call *C, uint64_t base, uint64_t bytes, int writes)
{
    fp_touch_bytes(C, base, bytes, writes);
    mappings_leave(C);
}

void fp_access(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count)
{
    int there = C->footprint && given_list(list, sizeof *list, count), less = list && !there, none = less;
    for (size_t i = 0; there && i < count; i++) {
        less |= list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        none |= list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    if (C->footprint && less)
        leaves(C, base, bytes, none); /* who may only read has to have written */
}

/* Before the call: the addresses may be mapped anew before it is back. The ranges wait in a word that is not recorded. */
void fp_unmap(struct call *C, CUdeviceptr base, size_t bytes)
{
    if (!C->footprint)
        return;
    struct place place = memories_find(C->thread, base);
    C->object = place.memory ? place.memory->uid : 0;
    fp_object(C, PTDS_OP_UNMAP, base);
    leaves(C, base, bytes, 1); /* work that the host was promised to be done may use it still */
    C->word[1] = (uint64_t)memories_take_out(base, bytes);
}

void mappings_unmapped(struct call *C)
{
    if (!C->footprint)
        return;
    if (C->result == CUDA_SUCCESS)
        memories_give_back((struct range *)C->word[1]);
    else
        memories_put_back((struct range *)C->word[1]);
}

/* 0: it was the only time. */
static int once_less(struct map *times, uint64_t key)
{
    uint64_t more = map_get(times, key);
    if (more > 1)
        map_set(times, key, more - 1);
    else if (more)
        map_remove(times, key);
    return more != 0;
}

static void once_more(struct map *times, uint64_t key)
{
    if (!map_add(times, key, 1))
        map_set(times, key, 1);
}

void fp_release(struct call *C, uint64_t handle)
{
    if (!C->footprint)
        return;
    C->word[0] = (uint64_t)once_less(&retained, handle);
    if (!C->word[0])
        C->leaving = (struct memory *)map_remove(&physical, handle);
}

void mappings_released(struct call *C, uint64_t handle)
{
    if (C->result == CUDA_SUCCESS)
        memories_drop(C->leaving);
    else if (C->leaving)
        map_set(&physical, handle, (uint64_t)C->leaving);
    else if (C->footprint && C->word[0])
        once_more(&retained, handle);
}

/* A handle that was released stands for what is mapped there again, as if it were new. */
void mappings_retained(struct call *C, const CUmemGenericAllocationHandle *handle, uint64_t address)
{
    if (!learns(C) || !handle)
        return;
    struct memory *memory = map_get(&physical, *handle) ? NULL : memories_find(C->thread, address).memory;
    if (memory)
        memories_hold(memory);
    if (memory && map_get_or_set(&physical, *handle, (uint64_t)memory) == (uint64_t)memory)
        return;
    once_more(&retained, *handle);
    memories_drop(memory);
}

void mappings_show(struct call *C, struct memory *memory)
{
    struct memory *reservation = memories_reservation(memory);
    reservations_mark(memory, 1);
    STATE_TELL(memory_shown, C, memory);
    if (reservation)
        STATE_TELL(memory_shown, C, reservation);
}

/* Others can touch it from here on, and learn by the host's word that they may. */
static void exported(struct call *C, struct memory *memory)
{
    __atomic_store_n(&exports, 1, __ATOMIC_RELAXED);
    if (memory)
        mappings_show(C, memory);
}

void mappings_exported_handle(struct call *C, uint64_t handle)
{
    if (learns(C))
        exported(C, behind(handle, PTDS_MEMORY_MAPPED, 0, 0));
}

void mappings_exported(struct call *C, uint64_t base, uint64_t bytes)
{
    struct place place = {NULL, 0, 0, 0};
    if (!learns(C))
        return;
    do {
        place = memories_find(C->thread, base);
        exported(C, place.memory);
    } while (place.memory && place.end - base < bytes && (bytes -= place.end - base, base = place.end, 1));
}

/* Programs give an int or a bool: its first byte tells. */
void mappings_synchronous(struct call *C, const void *value, uint64_t base)
{
    struct memory *memory = learns(C) ? memories_find(C->thread, base).memory : NULL;
    mappings_exported(C, base, 0);
    if (memory && value && *(const uint8_t *)value)
        memory->host |= MEMORY_SYNCHRONOUS;
    else if (memory)
        memory->host &= (uint8_t)~MEMORY_SYNCHRONOUS;
}

/* What was allowed once stays so here: work that was done meanwhile is not forgotten. */
void mappings_allowed(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count)
{
    int hosts = 0;
    for (size_t i = 0; learns(C) && list && i < count; i++)
        hosts |= touch_at_host(&list[i].location) && list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (uint64_t at = base; hosts && at - base < bytes;) {
        struct place place = memories_find(C->thread, at);
        if (!place.memory)
            break;
        mappings_show(C, place.memory);
        place.memory->host |= MEMORY_HOSTS;
        at = place.end;
    }
}

static void may_be_ours(struct memory *memory)
{
    if (memory && __atomic_load_n(&exports, __ATOMIC_RELAXED))
        reservations_mark(memory, MEMORY_SHARED);
}

void mappings_imported(struct call *C, const void *handle)
{
    if (learns(C) && handle && __atomic_load_n(&exports, __ATOMIC_RELAXED))
        may_be_ours(behind(*(const uint64_t *)handle, PTDS_MEMORY_MAPPED, 0, 0));
}

/* Multicast: the object's bytes are those of what is bound to it. */
void mappings_bound(struct call *C, CUmemGenericAllocationHandle object, struct memory *memory, uint64_t handle)
{
    struct memory *all = learns(C) ? behind((uint64_t)object, PTDS_MEMORY_MAPPED, 0, 0) : NULL;
    if (!memory && all)
        memory = behind(handle, PTDS_MEMORY_MAPPED, 0, 0);
    if (all)
        reservations_mark(all, MEMORY_SHARED);
    if (all && memory)
        reservations_mark(memory, MEMORY_SHARED);
}

/* So that it ends no capture, nor one that begins at this moment, the thread has to say that it knows. */
static CUresult ask_driver(CUdeviceptr *begin, size_t *size, CUdeviceptr address)
{
    __typeof__(&cuThreadExchangeStreamCaptureMode) exchange = REAL(cuThreadExchangeStreamCaptureMode);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int relaxed = exchange && ASK(exchange(&mode)) == CUDA_SUCCESS;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if ((relaxed || !capture_any()) && driver.cuMemGetAddressRange_v2)
        result = ASK(driver.cuMemGetAddressRange_v2(begin, size, address));
    if (relaxed)
        (void)ASK(exchange(&mode));
    return result;
}

int mappings_ask_range(uint64_t *base, uint64_t *bytes)
{
    CUdeviceptr begin = 0;
    size_t size = 0;
    if (ask_driver(&begin, &size, *base) != CUDA_SUCCESS || !size) {
        kernels_are_opaque(OPAQUE_OTHER);
        return 0;
    }
    *base = begin;
    *bytes = size;
    return 1;
}

/* Opened before, it is open once more; unless it goes elsewhere now, since the one before went without a call. */
static int is_open(const struct place *place, int known, uint64_t base, uint64_t bytes)
{
    return place->memory && place->memory->kind == PTDS_MEMORY_IPC &&
           (!known || (place->begin == base && place->end - place->begin == bytes));
}

void mappings_opened(struct call *C, const CUdeviceptr *pointer)
{
    if (!learns(C) || !pointer)
        return;
    uint64_t base = *pointer, bytes = 0, given = base;
    int known = mappings_ask_range(&base, &bytes);
    struct place place = memories_find(C->thread, given);
    if (is_open(&place, known, base, bytes)) {
        once_more(&opened, given);
        footprint_record_alloc(C, PTDS_MEMORY_IPC, place.begin, place.end - place.begin, place.memory->uid);
        return;
    }
    map_remove(&opened, given);
    memories_unmap_all(given, 1); /* all else that was there has gone */
    struct memory *memory = known ? memories_new(PTDS_MEMORY_IPC, base, bytes) : NULL;
    footprint_record_alloc(C, PTDS_MEMORY_IPC, base, bytes, memory ? memory->uid : 0);
    may_be_ours(memory);
    memories_map(memory, base, bytes, base);
    memories_drop(memory);
}

/* Behind the words that fp_free needs: it stays open for others. */
enum { CLOSED = 4 };

void fp_close(struct call *C, CUdeviceptr base)
{
    if (!C->footprint)
        return;
    int last = !once_less(&opened, base);
    struct place place = memories_find(C->thread, base);
    if (last)
        fp_free(C, PTDS_OP_FREE, place.memory ? place.begin : base);
    C->object = place.memory ? place.memory->uid : 0;
    fp_object(C, PTDS_OP_FREE, base);
    C->word[CLOSED] = (uint64_t)!last;
}

void mappings_closed(struct call *C, CUdeviceptr base)
{
    if (C->footprint && C->result != CUDA_SUCCESS && C->word[CLOSED])
        once_more(&opened, base);
    objects_freed(C);
}

void mappings_external_buffer(struct call *C, const CUdeviceptr *pointer, CUexternalMemory external,
                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *about)
{
    if (learns(C) && pointer && about)
        map_at(C, PTDS_MEMORY_EXTERNAL, (uint64_t)external, *pointer, about->size, about->offset);
    if (learns(C) && pointer)
        may_be_ours(memories_find(C->thread, *pointer).memory);
}

void mappings_external_array(struct call *C, const CUmipmappedArray *array, CUexternalMemory external)
{
    struct memory *memory = learns(C) && array ? behind((uint64_t)external, PTDS_MEMORY_EXTERNAL, 0, 0) : NULL;
    if (!memory)
        return;
    memories_hold(memory); /* for the array, which is destroyed by itself */
    allocations_set_handle((uint64_t)*array, memory);
}

void mappings_after_fork(void)
{
    map_reset(&physical);
    map_reset(&retained);
    map_reset(&opened);
}
