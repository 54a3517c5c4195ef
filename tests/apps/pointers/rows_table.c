// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table in device memory that a copy or the like brings. Until then all of its entries point to a decoy. Listed
// in pointers.h for the runner.

#include "tests/apps/pointers/pointers.h"

enum { LINE = 64 }; // bytes of a row of copies in two and three dimensions

static void few(struct scene *s)
{
    table_make(s, FEW, ENTRY);
}

static void many(struct scene *s)
{
    table_make(s, MANY, ENTRY_OF_MANY);
}

static CUdeviceptr entry_of(const struct scene *s)
{
    return s->table + s->entry * 8;
}

// The whole table, as it is to be, in memory of the host.
static const uint64_t *filled(struct scene *s, uint64_t *words)
{
    for (size_t i = 0; i < s->entries; i++)
        words[i] = s->decoy;
    words[s->entry] = s->target;
    return words;
}

static void pageable(struct scene *s)
{
    CU(cuMemcpyHtoD(s->table, filled(s, s->pageable), s->entries * 8));
}

static void pageable_async(struct scene *s)
{
    CU(cuMemcpyHtoDAsync(s->table, filled(s, s->pageable), s->entries * 8, NULL));
}

static void pinned(struct scene *s)
{
    CU(cuMemcpyHtoD(s->table, filled(s, s->pinned), s->entries * 8));
}

static void pinned_async(struct scene *s)
{
    CU(cuMemcpyHtoDAsync(s->table, filled(s, s->pinned), s->entries * 8, NULL));
}

static CUDA_MEMCPY2D in_lines(struct scene *s, uint64_t *from)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = filled(s, from),
                           .srcPitch = LINE,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = s->table,
                           .dstPitch = LINE,
                           .WidthInBytes = LINE,
                           .Height = s->entries * 8 / LINE};
}

static void two_dimensions(struct scene *s)
{
    CUDA_MEMCPY2D copy = in_lines(s, s->pageable);
    CU(cuMemcpy2D(&copy));
}

static void two_dimensions_async(struct scene *s)
{
    CUDA_MEMCPY2D copy = in_lines(s, s->pinned);
    CU(cuMemcpy2DAsync(&copy, NULL));
}

static CUDA_MEMCPY3D in_layers(const struct scene *s, const uint64_t *from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = LINE,
                           .srcHeight = 2,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = s->table,
                           .dstPitch = LINE,
                           .dstHeight = 2,
                           .WidthInBytes = LINE,
                           .Height = 2,
                           .Depth = s->entries * 8 / LINE / 2};
}

static void three_dimensions(struct scene *s)
{
    CUDA_MEMCPY3D copy = in_layers(s, filled(s, s->pageable));
    CU(cuMemcpy3D(&copy));
}

static void three_dimensions_async(struct scene *s)
{
    CUDA_MEMCPY3D copy = in_layers(s, filled(s, s->pinned));
    CU(cuMemcpy3DAsync(&copy, NULL));
}

static void from_device(struct scene *s)
{
    CU(cuMemAlloc(&s->more[0], s->entries * 8));
    CU(cuMemcpyHtoD(s->more[0], filled(s, s->pageable), s->entries * 8));
    CU(cuMemcpyDtoDAsync(s->table, s->more[0], s->entries * 8, NULL));
}

static void halves(struct scene *s)
{
    bring_halves(s, entry_of(s), s->target);
}

// The first copy ends in the middle of the entry, and the second one begins there.
static void straddling(struct scene *s)
{
    const uint64_t words[3] = {s->decoy, s->target, s->decoy};
    const char *bytes = (const char *)words;
    CU(cuMemcpyHtoD(entry_of(s) - 8, bytes, 12));
    CU(cuMemcpyHtoD(entry_of(s) + 4, bytes + 12, 12));
}

static void memset_halves(struct scene *s)
{
    bring_memset_halves(s, entry_of(s), s->target);
}

static void value_write(struct scene *s)
{
    bring_value_write(s, entry_of(s), s->target);
}

static void value_write_halves(struct scene *s)
{
    if (can(s, cuStreamWriteValue32(NULL, entry_of(s), (uint32_t)s->target, 0), "the driver does not write that value"))
        CU(cuStreamWriteValue32(NULL, entry_of(s) + 4, (uint32_t)(s->target >> 32), 0));
}

static void host_function(struct scene *s)
{
    bring_by_host_function(s, entry_of(s), s->target);
}

static void rewritten(struct scene *s)
{
    bring_rewritten(s, entry_of(s), s->target);
}

static void device_copy_of_entry(struct scene *s)
{
    bring_device_copy(s, entry_of(s), s->target);
}

static void by_kernel(struct scene *s)
{
    put_by_kernel(s, entry_of(s), s->target);
}

// ---- while another thread captures ----

static int captures, captured; // by atomics

static void *capture(void *scene)
{
    struct scene *s = scene;
    CUgraph graph;
    app_thread(s->app);
    CU(cuStreamBeginCapture(s->aside, CU_STREAM_CAPTURE_MODE_RELAXED));
    __atomic_store_n(&captures, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&captured, __ATOMIC_ACQUIRE))
        ;
    CU(cuMemsetD32Async(s->decoy, OTHER, WORDS, s->aside));
    CU(cuStreamEndCapture(s->aside, &graph));
    CU(cuGraphDestroy(graph));
    return NULL;
}

static void while_capturing(struct scene *s)
{
    pthread_t thread;
    captures = captured = 0;
    filled(s, s->pinned);
    pthread_create(&thread, NULL, capture, s);
    while (!__atomic_load_n(&captures, __ATOMIC_ACQUIRE))
        ;
    CU(cuMemcpyHtoDAsync(s->table, s->pinned, s->entries * 8, NULL));
    __atomic_store_n(&captured, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

// After the kernel has been launched the entry gets another pointer, which the kernel must not find.
static void rewrite_entry(struct scene *s)
{
    s->pinned[0] = s->decoy;
    CU(cuMemcpyHtoDAsync(entry_of(s), s->pinned, 8, NULL));
}

#define FEW_BY(title, how) \
    { \
        .name = title, .way = &way_table, .make = few, .bring = how \
    }
#define MANY_BY(title, how) \
    { \
        .name = title, .way = &way_table, .make = many, .bring = how \
    }

const struct row rows_table[] = {
    FEW_BY("table-pageable", pageable),
    FEW_BY("table-pageable-async", pageable_async),
    FEW_BY("table-pinned", pinned),
    FEW_BY("table-pinned-async", pinned_async),
    MANY_BY("table-large-pageable", pageable),
    MANY_BY("table-large-pageable-async", pageable_async),
    MANY_BY("table-large-pinned", pinned),
    MANY_BY("table-large-pinned-async", pinned_async),
    FEW_BY("table-2d", two_dimensions),
    FEW_BY("table-2d-async", two_dimensions_async),
    MANY_BY("table-large-2d-async", two_dimensions_async),
    FEW_BY("table-3d", three_dimensions),
    FEW_BY("table-3d-async", three_dimensions_async),
    FEW_BY("table-device-copy", from_device),
    MANY_BY("table-large-device-copy", from_device),
    FEW_BY("table-device-copy-entry", device_copy_of_entry),
    FEW_BY("table-halves", halves),
    MANY_BY("table-large-halves", halves),
    FEW_BY("table-straddling", straddling),
    FEW_BY("table-memset-halves", memset_halves),
    FEW_BY("table-value-write", value_write),
    FEW_BY("table-value-write-halves", value_write_halves),
    FEW_BY("table-host-function", host_function),
    FEW_BY("table-host-function-rewritten", rewritten),
    FEW_BY("table-by-kernel", by_kernel),
    FEW_BY("table-while-capturing", while_capturing),
    {.name = "table-rewritten-later", .way = &way_table, .make = few, .bring = pageable, .launched = rewrite_entry},
    {.name = "table-atomic", .way = &way_table_atomic, .make = few, .bring = pinned_async},
    {.name = NULL},
};
