// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about memory that no parameter points at, or only in part: variables of a module, pointers that lie in
// device memory, mapped ranges of several chunks, textures. One thread's kernel writes it behind a gate on stream 0,
// another thread reads or overwrites it. Called by the runner (promises.c).

#include <string.h>

#include "tests/apps/handovers/promises.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"

static void launch(CUfunction function, CUstream stream, void **params)
{
    CU(cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, params, NULL));
}

static CUmodule load(const char *text)
{
    CUmodule module;
    CU(cuModuleLoadData(&module, text));
    return module;
}

static CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction function;
    CU(cuModuleGetFunction(&function, module, name));
    return function;
}

// ---- variables of a module ----

enum { VARIABLE_WORDS = 256, OLD_VALUE = 5, NEW_VALUE = 7 };

static struct {
    CUfunction set, add, get;
    CUdeviceptr address;
} variable;

static void set_variable(struct promise *p, uint32_t value)
{
    (void)p;
    launch(variable.set, NULL, (void *[]){&value});
}

static void get_variable(struct promise *p)
{
    uint32_t count = VARIABLE_WORDS;
    launch(variable.get, NULL, (void *[]){&p->seen, &count});
}

static void set_variable_new(struct promise *p)
{
    set_variable(p, NEW_VALUE);
}

static void copy_variable(struct promise *p)
{
    CU(cuMemcpyDtoDAsync(p->seen, variable.address, VARIABLE_WORDS * 4, NULL));
}

static void overwrite_variable(struct promise *p)
{
    (void)p;
    CU(cuMemsetD32Async(variable.address, NEW_VALUE, VARIABLE_WORDS, NULL));
}

// Each kernel runs once, so that nothing is loaded lazily later.
static void make_variable(struct promise *p)
{
    CUmodule module = load(ptds_variables_ptx);
    size_t size;
    uint32_t none = 0;
    variable.set = kernel(module, "var_set");
    variable.add = kernel(module, "var_add");
    variable.get = kernel(module, "var_get");
    CU(cuModuleGetGlobal(&variable.address, &size, module, "ptds_var"));
    get_variable(p);
    launch(variable.add, NULL, (void *[]){&none});
    set_variable(p, OLD_VALUE);
    CU(cuCtxSynchronize());
}

static int variable_by_kernels(struct promise *p)
{
    make_variable(p);
    shut(p, NULL);
    set_variable(p, NEW_VALUE);
    elsewhere(p, get_variable);
    return device_are(p->seen, NEW_VALUE, VARIABLE_WORDS);
}

static int variable_by_copy(struct promise *p)
{
    uint32_t count = VARIABLE_WORDS;
    make_variable(p);
    shut(p, NULL);
    launch(variable.add, NULL, (void *[]){&count});
    elsewhere(p, copy_variable);
    return device_are(p->seen, OLD_VALUE + 1, VARIABLE_WORDS);
}

static int variable_overwritten(struct promise *p, void (*overwrite)(struct promise *))
{
    make_variable(p);
    shut(p, NULL);
    get_variable(p);
    elsewhere(p, overwrite);
    return device_are(p->seen, OLD_VALUE, VARIABLE_WORDS);
}

static int variable_overwritten_by_kernel(struct promise *p)
{
    return variable_overwritten(p, set_variable_new);
}

static int variable_overwritten_by_memset(struct promise *p)
{
    return variable_overwritten(p, overwrite_variable);
}

// ---- a pointer that a kernel left in a variable ----

static struct {
    CUfunction add, get;
} kept;

static void get_kept(struct promise *p)
{
    uint32_t count = WORDS;
    launch(kept.get, NULL, (void *[]){&p->seen, &count});
}

static void copy_words(struct promise *p)
{
    CU(cuMemcpyDtoDAsync(p->seen, p->words, BYTES, NULL));
}

static void make_kept(struct promise *p)
{
    CUmodule module = load(ptds_kept_ptx);
    uint32_t none = 0;
    kept.add = kernel(module, "kept_add");
    kept.get = kernel(module, "kept_get");
    launch(kernel(module, "kept_set"), NULL, (void *[]){&p->words});
    launch(kept.add, NULL, (void *[]){&none});
    get_kept(p);
    CU(cuMemsetD32Async(p->seen, 0, WORDS, NULL));
    CU(cuCtxSynchronize());
}

static int kept_pointer_read(struct promise *p)
{
    make_kept(p);
    slow_add(p, NULL);
    elsewhere(p, get_kept);
    return device_are(p->seen, NEW + 1, WORDS);
}

static int kept_pointer_written(struct promise *p)
{
    uint32_t count = WORDS;
    make_kept(p);
    shut(p, NULL);
    launch(kept.add, NULL, (void *[]){&count});
    elsewhere(p, copy_words);
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- tables of pointers ----

static struct {
    CUfunction gather, scatter;
    CUdeviceptr pointers, other;
} table;

static void gather(struct promise *p)
{
    uint32_t entries = 2, count = WORDS;
    launch(table.gather, NULL, (void *[]){&p->seen, &table.pointers, &entries, &count});
}

static void scatter(struct promise *p, uint32_t value)
{
    (void)p;
    uint32_t entries = 2, count = WORDS;
    launch(table.scatter, NULL, (void *[]){&table.pointers, &entries, &value, &count});
}

static void scatter_other(struct promise *p)
{
    scatter(p, OTHER);
}

static void read_words(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, WORDS);
}

static void make_table(struct promise *p, const char *gathering, const char *scattering)
{
    CUmodule module = load(ptds_tables_ptx);
    table.gather = kernel(module, gathering);
    table.scatter = kernel(module, scattering);
    CU(cuMemAlloc(&table.other, BYTES));
    CU(cuMemAlloc(&table.pointers, 2 * sizeof(CUdeviceptr)));
    CUdeviceptr pointers[2] = {p->words, table.other};
    CU(cuMemcpyHtoD(table.pointers, pointers, sizeof pointers));
    gather(p);
    scatter(p, NEW);
    CU(cuCtxSynchronize());
}

static int gathered(struct promise *p, const char *gathering, const char *scattering)
{
    make_table(p, gathering, scattering);
    slow_add(p, NULL);
    elsewhere(p, gather);
    return device_are(p->seen, NEW + 1 + NEW, WORDS);
}

static int scattered(struct promise *p, const char *gathering, const char *scattering)
{
    make_table(p, gathering, scattering);
    shut(p, NULL);
    scatter(p, OTHER);
    elsewhere(p, read_words);
    return device_are(p->seen, OTHER, WORDS);
}

// The names say that the parameter is a pointer to pointers.
static int table_gather(struct promise *p)
{
    return gathered(p, PTDS_GATHER, PTDS_SCATTER);
}

static int table_scatter(struct promise *p)
{
    return scattered(p, PTDS_GATHER, PTDS_SCATTER);
}

// The names say nothing: only that a small copy brought addresses there.
static int plain_table_gather(struct promise *p)
{
    return gathered(p, "gather", "scatter");
}

static int plain_table_scatter(struct promise *p)
{
    return scattered(p, "gather", "scatter");
}

static int table_overwritten(struct promise *p)
{
    make_table(p, PTDS_GATHER, PTDS_SCATTER);
    shut(p, NULL);
    read_words(p);
    elsewhere(p, scatter_other);
    return device_are(p->seen, NEW, WORDS);
}

// The host stores the pointers itself, after a copy brought others.
static int host_table(struct promise *p, const char *gathering, CUdeviceptr pointers)
{
    make_table(p, PTDS_GATHER, PTDS_SCATTER);
    CUdeviceptr others[2] = {table.other, table.other};
    table.gather = kernel(load(ptds_tables_ptx), gathering);
    table.pointers = pointers;
    CU(cuMemcpyHtoD(pointers, others, sizeof others));
    gather(p);
    CU(cuCtxSynchronize());
    memcpy((void *)pointers, &p->words, sizeof p->words);
    shut(p, p->a);
    CU(cuMemsetD32Async(p->words, OTHER, WORDS, p->a)); // touches nothing of the host's, as the gate does
    elsewhere(p, gather);
    return device_are(p->seen, OTHER + NEW, WORDS);
}

static int managed_table(struct promise *p, const char *gathering)
{
    CUdeviceptr pointers;
    CU(cuMemAllocManaged(&pointers, 2 * sizeof(CUdeviceptr), CU_MEM_ATTACH_GLOBAL));
    return host_table(p, gathering, pointers);
}

static int table_managed(struct promise *p)
{
    return managed_table(p, PTDS_GATHER);
}

static int plain_table_managed(struct promise *p)
{
    return managed_table(p, "gather");
}

static int plain_table_pinned(struct promise *p)
{
    void *pointers;
    CU(cuMemAllocHost(&pointers, 2 * sizeof(CUdeviceptr)));
    return host_table(p, "gather", (CUdeviceptr)pointers);
}

// A kernel writes the pointers: it copies them from another table.
static int rewritten_table(struct promise *p, const char *gathering)
{
    CUdeviceptr from, others[2];
    make_table(p, gathering, PTDS_SCATTER);
    others[0] = others[1] = table.other;
    from = table.pointers;
    CU(cuMemAlloc(&table.pointers, sizeof others));
    CU(cuMemcpyHtoD(table.pointers, others, sizeof others));
    copy(p, NULL, table.pointers, from, sizeof others / 4);
    CU(cuCtxSynchronize());
    slow_add(p, NULL);
    elsewhere(p, gather);
    return device_are(p->seen, NEW + 1 + NEW, WORDS);
}

static int table_rewritten(struct promise *p)
{
    return rewritten_table(p, PTDS_GATHER);
}

static int plain_table_rewritten(struct promise *p)
{
    return rewritten_table(p, "gather");
}

// ---- a graph over memory that has gone: another lies there ----

static CUgraphExec graph;

static void launch_graph(struct promise *p)
{
    (void)p;
    CU(cuGraphLaunch(graph, NULL));
}

static int graph_of_old_memory(struct promise *p)
{
    enum { LARGE = 1 << 20 };
    CUdeviceptr before, now;
    CUgraph nodes;
    CU(cuMemAlloc(&before, LARGE));
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemcpyDtoDAsync(p->seen, before, BYTES, p->n));
    CU(cuStreamEndCapture(p->n, &nodes));
    CU(cuGraphInstantiateWithFlags(&graph, nodes, 0));
    CU(cuMemFree(before));
    CU(cuMemAlloc(&now, LARGE));
    if (now != before) {
        p->no = "freed memory is not given out again at once";
        return 1;
    }
    fill(p, NULL, now, NEW, WORDS);
    launch_graph(p);
    CU(cuCtxSynchronize());
    shut(p, NULL);
    add(p, NULL, now, p->ones, WORDS);
    elsewhere(p, launch_graph);
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- a mapped range of two chunks: a pointer into the first reaches into the second ----

static CUdeviceptr second_chunk;

static size_t map_two(struct promise *p, CUdeviceptr *base)
{
    CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = p->app.device}};
    CUmemAccessDesc access = {property.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t chunk;
    CU(cuMemGetAllocationGranularity(&chunk, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(cuMemAddressReserve(base, 2 * chunk, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CUmemGenericAllocationHandle handle;
        CU(cuMemCreate(&handle, chunk, &property, 0));
        CU(cuMemMap(*base + (CUdeviceptr)i * chunk, chunk, 0, handle, 0));
        CU(cuMemRelease(handle));
    }
    CU(cuMemSetAccess(*base, 2 * chunk, &access, 1));
    return chunk;
}

static void read_second_chunk(struct promise *p)
{
    copy(p, NULL, p->seen, second_chunk, WORDS / 2);
}

static int mapped_chunks(struct promise *p)
{
    CUdeviceptr base;
    size_t chunk = map_two(p, &base);
    CUdeviceptr middle = base + chunk - BYTES / 2;
    second_chunk = base + chunk;
    CU(cuMemsetD32(middle, NEW, WORDS));
    CU(cuCtxSynchronize());
    shut(p, NULL);
    add(p, NULL, middle, p->ones, WORDS);
    elsewhere(p, read_second_chunk);
    return device_are(p->seen, NEW + 1, WORDS / 2);
}

// ---- a texture of linear memory ----

static CUfunction texture_kernel;
static CUtexObject texture;

static void read_texture(struct promise *p)
{
    uint32_t count = WORDS;
    launch(texture_kernel, NULL, (void *[]){&p->seen, &texture, &count});
}

static int texture_read(struct promise *p)
{
    CUDA_RESOURCE_DESC what;
    CUDA_TEXTURE_DESC how;
    memset(&what, 0, sizeof what);
    memset(&how, 0, sizeof how);
    what.resType = CU_RESOURCE_TYPE_LINEAR;
    what.res.linear.devPtr = p->words;
    what.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    what.res.linear.numChannels = 1;
    what.res.linear.sizeInBytes = BYTES;
    how.flags = CU_TRSF_READ_AS_INTEGER;
    texture_kernel = kernel(load(ptds_textures_ptx), "tex_copy");
    CU(cuTexObjectCreate(&texture, &what, &how, NULL));
    read_texture(p);
    CU(cuCtxSynchronize());
    slow_add(p, NULL);
    elsewhere(p, read_texture);
    return device_are(p->seen, NEW + 1, WORDS);
}

const struct named_case cases_memory[] = {
    {"variable-by-kernels", variable_by_kernels, 0},
    {"variable-by-copy", variable_by_copy, 0},
    {"variable-overwritten-by-kernel", variable_overwritten_by_kernel, 0},
    {"variable-overwritten-by-memset", variable_overwritten_by_memset, 0},
    {"kept-pointer-read", kept_pointer_read, 0},
    {"kept-pointer-written", kept_pointer_written, 0},
    {"table-gather", table_gather, 0},
    {"table-scatter", table_scatter, 0},
    {"table-gather-plain", plain_table_gather, 0},
    {"table-scatter-plain", plain_table_scatter, 0},
    {"table-overwritten", table_overwritten, 0},
    {"table-managed", table_managed, 0},
    {"table-managed-plain", plain_table_managed, 0},
    {"table-pinned-plain", plain_table_pinned, 0},
    {"table-rewritten", table_rewritten, 0},
    {"table-rewritten-plain", plain_table_rewritten, 0},
    {"graph-of-old-memory", graph_of_old_memory, 0},
    {"mapped-chunks", mapped_chunks, 0},
    {"texture", texture_read, 0},
    {0},
};
