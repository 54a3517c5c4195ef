// SPDX-License-Identifier: Apache-2.0
//
// Rows of other loads and other arithmetic, of other calls that launch, and of tables that another stream brings. All
// tables are large, so that what they have is not known by having seen them come. Listed in pointers.h for the runner.

#include <stdlib.h>
#include <string.h>

#include "tests/apps/pointers/pointers.h"

enum { FAR = 64 << 20 };

static void many(struct scene *s)
{
    table_make(s, MANY, ENTRY_OF_MANY);
}

static void fill(struct scene *s)
{
    for (size_t i = 0; i < s->entries; i++)
        s->pinned[i] = s->decoy;
    s->pinned[s->entry] = s->target;
}

static void bring(struct scene *s)
{
    fill(s);
    CU(cuMemcpyHtoDAsync(s->table, s->pinned, s->entries * 8, NULL));
}

static void any_copy(struct scene *s)
{
    fill(s);
    CU(cuMemcpyAsync(s->table, (CUdeviceptr)(uintptr_t)s->pinned, s->entries * 8, NULL));
}

// ---- tables of halves ----

static void split(struct scene *s)
{
    uint32_t *words = (uint32_t *)s->pageable;
    s->entry = ENTRY;
    s->entries = FEW;
    CU(cuMemAlloc(&s->table, FEW * 8));
    CU(cuMemAlloc(&s->more[0], FEW * 8));
    for (unsigned i = 0; i < FEW; i++) {
        words[i] = (uint32_t)s->decoy;
        words[FEW + i] = (uint32_t)(s->decoy >> 32);
    }
    CU(cuMemcpyHtoD(s->table, words, FEW * 4));
    CU(cuMemcpyHtoD(s->more[0], words + FEW, FEW * 4));
}

static void bring_split(struct scene *s)
{
    uint32_t low = (uint32_t)s->target, high = (uint32_t)(s->target >> 32);
    CU(cuMemcpyHtoD(s->table + (CUdeviceptr)ENTRY * 4, &low, 4));
    CU(cuMemcpyHtoD(s->more[0] + (CUdeviceptr)ENTRY * 4, &high, 4));
}

static void fetched(struct scene *s)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};
    many(s);
    resource.res.linear.devPtr = s->table;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = s->entries * 8;
    can(s, cuTexObjectCreate(&s->texture, &resource, &description, NULL), "no texture objects");
}

static void end_fetched(struct scene *s)
{
    if (s->texture)
        CU(cuTexObjectDestroy(s->texture));
}

// ---- by other streams ----

static CUstream blocking;

static void with_blocking(struct scene *s)
{
    many(s);
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
}

static void end_blocking(struct scene *s)
{
    (void)s;
    CU(cuStreamDestroy(blocking));
}

static void bring_on_blocking(struct scene *s)
{
    fill(s);
    CU(cuMemcpyHtoDAsync(s->table, s->pinned, s->entries * 8, blocking));
}

static void bring_on_aside(struct scene *s)
{
    CUevent event;
    fill(s);
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(cuMemcpyHtoDAsync(s->table, s->pinned, s->entries * 8, s->aside));
    CU(cuEventRecord(event, s->aside));
    CU(cuStreamWaitEvent(NULL, event, 0));
    CU(cuEventDestroy(event));
}

// ---- by other calls ----

// A way's two parameters of 32 bits, or one of 64, and what follows them, as bytes.
static void launch_by_buffer(struct scene *s, CUfunction function, void **at)
{
    struct {
        uint64_t pointer, ns, values[2];
    } block = {0};
    size_t size = s->scheme == WRITE ? 24 : 28; // the driver refuses any other than the parameters' size
    int halves = s->row->way == &way_halves;
    char *bytes = (char *)&block;
    memcpy(bytes, at[0], halves ? 4 : 8);
    if (halves)
        memcpy(bytes + 4, at[1], 4);
    at += halves ? 2 : 1;
    memcpy(&block.ns, at[0], 8);
    memcpy(&block.values[0], at[1], s->scheme == WRITE ? 4 : 8);
    memcpy((char *)block.values + (s->scheme == WRITE ? 4 : 8), at[2], 4);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
}

static void launch_ex(struct scene *s, CUfunction function, void **at)
{
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    (void)s;
    CU(cuLaunchKernelEx(&config, function, at, NULL));
}

static void launch_cooperative(struct scene *s, CUfunction function, void **at)
{
    (void)s;
    CU(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, at));
}

// ---- of a library ----

static CUlibrary library;
static CUdeviceptr pointer_of_library;

static void load_library(struct scene *s)
{
    char *text = way_text(s->row->way);
    CUkernel write, read;
    size_t size;
    library = NULL;
    if (can(s, cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0), "no libraries")) {
        CU(cuLibraryGetKernel(&write, library, "way_write"));
        CU(cuLibraryGetKernel(&read, library, "way_read"));
        CU(cuLibraryGetGlobal(&pointer_of_library, &size, library, "pointer"));
        s->write_kernel = (CUfunction)write;
        s->read_kernel = (CUfunction)read;
        bring_pageable(s, pointer_of_library, s->decoy);
    }
    free(text);
}

static void end_library(struct scene *s)
{
    (void)s;
    if (library)
        CU(cuLibraryUnload(library));
}

static void bring_to_library(struct scene *s)
{
    bring_halves(s, pointer_of_library, s->target);
}

// ---- more ----

static void far_allocation(struct scene *s)
{
    CU(cuMemAlloc(&s->more[0], FAR));
}

static void first_value(struct scene *s)
{
    uint64_t value;
    s->target = variable(s->module, "own_words");
    CU(cuMemsetD32(s->target, OLD, WORDS));
    CU(cuMemcpyDtoH(&value, variable(s->module, "pointer"), sizeof value));
    if (value != s->target)
        s->no = "variables do not begin with addresses";
}

#define TABLE(title, how) \
    { \
        .name = title, .way = &how, .make = many, .bring = bring \
    }

const struct row rows_load[] = {
    TABLE("loaded-read-only", way_read_only),
    TABLE("loaded-volatile", way_volatile),
    TABLE("loaded-vector", way_vector),
    TABLE("loaded-by-atomic", way_atomic_load),
    TABLE("loaded-by-exchange", way_exchange),
    TABLE("loaded-halves", way_two_loads),
    TABLE("loaded-halves-shifted", way_shifted_loads),
    TABLE("loaded-bytes", way_bytes),
    TABLE("loaded-branched", way_branched),
    {.name = "loaded-split", .way = &way_split, .make = split, .bring = bring_split},
    {.name = "loaded-by-texture", .way = &way_fetched, .make = fetched, .bring = bring, .end = end_fetched},
    {.name = "table-any-copy", .way = &way_table, .make = many, .bring = any_copy},
    {.name = "table-on-blocking-stream",
     .way = &way_table,
     .make = with_blocking,
     .bring = bring_on_blocking,
     .end = end_blocking},
    {.name = "table-on-non-blocking-stream", .way = &way_table, .make = many, .bring = bring_on_aside},
    {.name = "halves-shifted", .way = &way_halves_shifted},
    {.name = "halves-product", .way = &way_halves_product},
    {.name = "called", .way = &way_called},
    {.name = "difference-far", .way = &way_difference_far, .make = far_allocation},
    {.name = "index-far", .way = &way_index_far, .make = far_allocation, .limit = 1},
    {.name = "launch-by-buffer", .way = &way_plain, .launch = launch_by_buffer},
    {.name = "launch-by-buffer-halves", .way = &way_halves, .launch = launch_by_buffer},
    {.name = "launch-ex-halves", .way = &way_halves, .launch = launch_ex},
    {.name = "launch-cooperative-halves", .way = &way_halves, .launch = launch_cooperative},
    {.name = "library-variable", .way = &way_variable, .make = load_library, .bring = bring_to_library, .end = end_library},
    {.name = "library-constant", .way = &way_constant, .make = load_library, .bring = bring_to_library, .end = end_library},
    {.name = "variable-first-value", .way = &way_first_value, .make = first_value},
    {.name = "constant-first-value", .way = &way_first_value_constant, .make = first_value},
    {.name = NULL},
};
