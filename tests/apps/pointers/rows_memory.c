// SPDX-License-Identifier: Apache-2.0
//
// Rows of tables elsewhere than in plain device memory, of tables whose target changes, of tables of tables, lists and
// mailboxes. Listed in pointers.h for the runner.

#include <stdlib.h>
#include <string.h>

#include "tests/apps/pointers/pointers.h"

enum { NODES = 3, NODE_BYTES = 128 };

static CUdeviceptr entry_of(const struct scene *s)
{
    return s->table + s->entry * 8;
}

static void few(struct scene *s)
{
    table_make(s, FEW, ENTRY);
}

static void bring(struct scene *s)
{
    bring_pageable(s, entry_of(s), s->target);
}

// ---- tables that the host has, too ----

static void fill_decoys(struct scene *s, uint64_t *words)
{
    for (size_t i = 0; i < FEW; i++)
        words[i] = s->decoy;
    s->entry = ENTRY;
}

static void in_pinned(struct scene *s)
{
    fill_decoys(s, s->pinned);
    s->table = s->pinned_device;
}

static void host_writes(struct scene *s)
{
    s->pinned[ENTRY] = s->target;
}

static void host_function_writes(struct scene *s)
{
    spin_before(s);
    host_function_fills(s, NULL, &s->pinned[ENTRY], s->target);
}

static void copy_writes(struct scene *s)
{
    s->pageable[0] = s->target;
    CU(cuMemcpyHtoD(s->table + (CUdeviceptr)ENTRY * 8, s->pageable, 8));
}

static uint64_t *others; // memory of the host's, one row at a time

static void in_registered(struct scene *s)
{
    others = aligned_alloc(4096, 4096);
    fill_decoys(s, others);
    if (can(s, cuMemHostRegister(others, 4096, CU_MEMHOSTREGISTER_DEVICEMAP), "the driver does not register memory"))
        CU(cuMemHostGetDevicePointer(&s->table, others, 0));
}

static void end_registered(struct scene *s)
{
    if (!s->no)
        CU(cuMemHostUnregister(others));
    free(others);
}

static void others_written(struct scene *s)
{
    others[ENTRY] = s->target;
}

static void in_managed(struct scene *s)
{
    int concurrent = 0;
    CUdeviceptr managed;
    CU(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, s->app->device));
    if (!concurrent)
        s->no = "managed memory belongs to the device while that works";
    else if (can(s, cuMemAllocManaged(&managed, FEW * 8, CU_MEM_ATTACH_GLOBAL), "no managed memory")) {
        others = (uint64_t *)(uintptr_t)managed;
        fill_decoys(s, others);
        s->more[0] = s->table = managed;
    }
}

// ---- virtual memory ----

enum { VMM_BYTES = 2 << 20 };
static CUmemGenericAllocationHandle physical;
static CUdeviceptr range;

static int map(struct scene *s)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = s->app->device}};
    CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!can(s, cuMemCreate(&physical, VMM_BYTES, &prop, 0), "no virtual memory management"))
        return 0;
    CU(cuMemAddressReserve(&range, VMM_BYTES, 0, 0, 0));
    CU(cuMemMap(range, VMM_BYTES, 0, physical, 0));
    CU(cuMemSetAccess(range, VMM_BYTES, &access, 1));
    return 1;
}

static void unmap(struct scene *s)
{
    if (s->no)
        return;
    CU(cuMemUnmap(range, VMM_BYTES));
    CU(cuMemAddressFree(range, VMM_BYTES));
    CU(cuMemRelease(physical));
}

static void table_mapped(struct scene *s)
{
    if (!map(s))
        return;
    fill_decoys(s, s->pageable);
    s->table = range + 4096;
    CU(cuMemcpyHtoD(s->table, s->pageable, FEW * 8));
}

static void target_mapped(struct scene *s)
{
    few(s);
    if (!map(s))
        return;
    s->target = range + 8192;
    CU(cuMemsetD32(s->target, OLD, WORDS));
}

// ---- the target goes, and something else lies at its address ----

static void take_again(struct scene *s, CUdeviceptr before)
{
    CUdeviceptr again;
    CU(cuMemAlloc(&again, BYTES));
    if (again != before)
        s->no = "the address was not given again";
    s->more[0] = s->target = again;
    CU(cuMemsetD32Async(again, OLD, WORDS, NULL));
    CU(cuStreamSynchronize(NULL)); // or to wait for this would be to wait for the kernel
}

static void freed_after(struct scene *s)
{
    CUdeviceptr first = words_of(OLD);
    bring_pageable(s, entry_of(s), first);
    CU(cuMemFree(first));
    take_again(s, first);
}

static void freed_before(struct scene *s)
{
    CUdeviceptr first = words_of(OLD);
    CU(cuMemFree(first));
    bring_pageable(s, entry_of(s), first);
    take_again(s, first);
}

static void freed_in_pool(struct scene *s)
{
    CUdeviceptr first, again;
    CU(cuMemAllocAsync(&first, BYTES, NULL));
    s->pageable[0] = first;
    CU(cuMemcpyHtoDAsync(entry_of(s), s->pageable, 8, NULL));
    CU(cuMemFreeAsync(first, NULL));
    CU(cuMemAllocAsync(&again, BYTES, NULL));
    if (again != first)
        s->no = "the address was not given again";
    s->target = again;
    CU(cuMemsetD32Async(again, OLD, WORDS, NULL));
    CU(cuStreamSynchronize(NULL));
}

static void end_pool(struct scene *s)
{
    if (s->target != s->made)
        CU(cuMemFreeAsync(s->target, NULL));
    CU(cuCtxSynchronize());
}

// ---- further away ----

// The table's entry is the address of an entry of another table.
static void two_tables(struct scene *s)
{
    few(s);
    CU(cuMemAlloc(&s->more[0], FEW * 8));
    CU(cuMemcpyHtoD(s->more[0], s->pageable, FEW * 8)); // decoys
    CU(cuMemAlloc(&s->more[1], 64));
    bring_pageable(s, s->more[1], s->decoy);
    for (size_t i = 0; i < FEW; i++)
        bring_pageable(s, s->table + i * 8, s->more[1]);
}

static void bring_two(struct scene *s)
{
    bring_pageable(s, s->more[0] + 24, s->target);
    bring_pageable(s, entry_of(s), s->more[0] + 24);
}

static void bring_two_second_later(struct scene *s)
{
    bring_pageable(s, entry_of(s), s->more[0] + 24);
    bring_device_copy(s, s->more[0] + 24, s->target);
}

static void nodes(struct scene *s)
{
    CU(cuMemAlloc(&s->more[0], (size_t)NODES * NODE_BYTES));
    CU(cuMemAlloc(&s->more[1], NODE_BYTES));
    s->table = s->more[0];
    bring_pageable(s, s->more[0], s->more[0] + NODE_BYTES);
    bring_pageable(s, s->more[0] + NODE_BYTES, s->more[1]);
    bring_pageable(s, s->more[1], s->decoy);
}

static void last_node(struct scene *s)
{
    bring_pageable(s, s->more[1], s->target);
}

static void last_node_by_device_copy(struct scene *s)
{
    bring_device_copy(s, s->more[1], s->target);
}

// The node in the middle is another one.
static void middle_node_by_kernel(struct scene *s)
{
    CUdeviceptr last = s->more[0] + 2 * NODE_BYTES;
    bring_pageable(s, last, s->target);
    put_by_kernel(s, s->more[0] + NODE_BYTES, last);
}

static void box(struct scene *s)
{
    s->pinned[0] = 0;
    s->table = s->pinned_device;
}

static void put_into_box(struct scene *s)
{
    __atomic_store_n(&s->pinned[0], s->target, __ATOMIC_RELEASE);
}

static void target_is_variable(struct scene *s)
{
    CUfunction write, read;
    few(s);
    load(s, &way_own_words, &s->other_module, &write, &read);
    s->target = variable(s->other_module, "own_words");
    CU(cuMemsetD32(s->target, OLD, WORDS));
}

#define ROW(title, how, made, brought) .name = title, .way = &how, .make = made, .bring = brought

const struct row rows_memory[] = {
    {ROW("table-in-pinned", way_table, in_pinned, host_writes)},
    {ROW("table-in-pinned-by-host-function", way_table, in_pinned, host_function_writes)},
    {ROW("table-in-pinned-by-copy", way_table, in_pinned, copy_writes)},
    {ROW("table-in-registered", way_table, in_registered, others_written), .end = end_registered},
    {ROW("table-in-managed", way_table, in_managed, others_written)},
    {ROW("table-in-mapped-range", way_table, table_mapped, bring), .end = unmap},
    {ROW("target-in-mapped-range", way_table, target_mapped, bring), .end = unmap},
    {ROW("target-freed", way_table, few, freed_after), .schemes = NOT_LATE},
    {ROW("target-freed-before", way_table, few, freed_before), .schemes = NOT_LATE},
    {ROW("target-freed-in-pool", way_table, few, freed_in_pool), .end = end_pool, .schemes = NOT_LATE},
    {ROW("target-is-variable", way_table, target_is_variable, bring)},
    {ROW("tables", way_tables, two_tables, bring_two)},
    {ROW("tables-second-device-copy", way_tables, two_tables, bring_two_second_later)},
    {ROW("list", way_list, nodes, last_node)},
    {ROW("list-last-device-copy", way_list, nodes, last_node_by_device_copy)},
    {ROW("list-middle-by-kernel", way_list, nodes, middle_node_by_kernel)},
    {ROW("mailbox", way_mailbox, box, NULL), .launched = put_into_box},
    {.name = NULL},
};
