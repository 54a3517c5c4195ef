/* SPDX-License-Identifier: Apache-2.0
 *
 * What a host is told after cuStreamSynchronize(0), when another thread's default-stream work, on memory that only the
 * device can touch, was pending: that it is done. Whether there is memory, how much there is, what trims give back, which
 * handle a new texture gets, what streams and events say.
 */
#include <stdio.h>

#include "tests/conformance/conf.h"
#include "tests/conformance/textures.ptx.h"

enum { N = 64, FEW = 1 << 20, SPIN_MS = 150 };
static CUdeviceptr spun, most_at, out;
static CUmemoryPool pool;
static size_t most, first_free;
static CUfunction spin_add, tex_copy, surf_add;
static CUgraphExec exec;
static CUtexObject object;
static CUevent event;

static void launch(CUfunction f, CUstream stream, void **parameters)
{
    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

static void spin(CUstream stream)
{
    uint64_t ns = SPIN_MS * UINT64_C(1000000);
    uint32_t n = 1;
    launch(spin_add, stream, (void *[]){&spun, &ns, &n});
}

/* ---- what the other thread leaves pending ---- */

static void spins(void *stream)
{
    spin(stream);
    MUST(cuEventRecord(event, stream));
}

/* More than half of the memory: there is none for the same again until it is done. */
static void holds_most(void *unused)
{
    (void)unused;
    MUST(cuMemAllocFromPoolAsync(&most_at, most, pool, NULL));
    spin(NULL);
    MUST(cuMemFreeAsync(most_at, NULL));
}

static void launches_graph(void *unused)
{
    (void)unused;
    spin(NULL);
    MUST(cuGraphLaunch(exec, NULL));
}

static void copies_texture(void *unused)
{
    (void)unused;
    uint32_t n = N;
    spin(NULL);
    launch(tex_copy, NULL, (void *[]){&out, &object, &n});
}

static void adds_to_surface(void *unused)
{
    (void)unused;
    uint32_t n = N;
    spin(NULL);
    launch(surf_add, NULL, (void *[]){&object, &n});
}

/* The host waits as legacy does, for all of that. */
static void after(void (*fn)(void *), void *argument)
{
    conf_elsewhere(fn, argument);
    MUST(cuStreamSynchronize(NULL));
}

static void done(void)
{
    MUST(cuCtxSynchronize());
}

/* ---- whether there is memory ---- */

static CUresult alloc(void)
{
    CUdeviceptr p;
    CUresult result = cuMemAlloc_v2(&p, most);
    return result ? result : cuMemFree_v2(p);
}

static CUresult alloc_pitch(void)
{
    CUdeviceptr p;
    size_t pitch;
    CUresult result = cuMemAllocPitch_v2(&p, &pitch, FEW, most / FEW, 4);
    return result ? result : cuMemFree_v2(p);
}

static CUresult alloc_async(void)
{
    CUdeviceptr p;
    CUresult result = cuMemAllocAsync(&p, most, conf.nonblocking);
    return result ? result : cuMemFreeAsync(p, conf.nonblocking);
}

static CUmemGenericAllocationHandle created(size_t bytes, CUresult *result)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle = 0;
    *result = cuMemCreate(&handle, bytes, &prop, 0);
    return handle;
}

static CUresult create(void)
{
    CUresult result;
    CUmemGenericAllocationHandle handle = created(most, &result);
    return result ? result : cuMemRelease(handle);
}

static CUresult create_array(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {4096, 4096, most >> 24, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    CUarray array;
    CUresult result = cuArray3DCreate_v2(&array, &shape);
    return result ? result : cuArrayDestroy(array);
}

static void allocations(void)
{
    static const struct {
        const char *name;
        CUresult (*call)(void);
    } all[] = {{"cuMemAlloc", alloc},
               {"cuMemAllocPitch", alloc_pitch},
               {"cuMemAllocAsync", alloc_async},
               {"cuMemCreate", create},
               {"cuArray3DCreate", create_array}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        after(holds_most, NULL);
        conf_say_code("told", all[i].name, all[i].call());
        done();
    }
}

/* ---- how much there is, and what trims give back ---- */

static void amounts(void)
{
    size_t now, total;
    cuuint64_t reserved = 0, all = UINT64_MAX, none = 0;
    after(holds_most, NULL);
    MUST(cuMemGetInfo_v2(&now, &total));
    conf_say_bool("told", "cuMemGetInfo", now > first_free - most / 2);
    done();
    after(holds_most, NULL);
    MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    conf_say_bool("told", "cuMemPoolGetAttribute", reserved < most / 2);
    done();
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    after(holds_most, NULL);
    MUST(cuMemPoolTrimTo(pool, 0));
    MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    conf_say_bool("told", "cuMemPoolTrimTo", reserved < most / 2);
    done();
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none));
    MUST(cuMemPoolTrimTo(pool, 0));
}

/* A graph of an allocation, a kernel on it, and its free. */
static void make_graph(size_t bytes)
{
    uint32_t value = 1, n = 1;
    CUdeviceptr p;
    CUgraph graph;
    MUST(cuStreamBeginCapture_v2(conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemAllocAsync(&p, bytes, conf.nonblocking));
    launch(conf.fill, conf.nonblocking, (void *[]){&p, &value, &n});
    MUST(cuMemFreeAsync(p, conf.nonblocking));
    MUST(cuStreamEndCapture(conf.nonblocking, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
}

static cuuint64_t graph_memory(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes = 0;
    MUST(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

/* Of ten parts six are held, three are taken, and the graph needs three. */
static void graphs(void)
{
    const size_t some = most / 2;
    size_t now, total;
    CUresult result;
    make_graph(some);
    after(launches_graph, NULL);
    conf_say_bool("told", "cuDeviceGetGraphMemAttribute", graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) < some / 2);
    done();
    after(launches_graph, NULL);
    MUST(cuDeviceGraphMemTrim(0));
    conf_say_bool("told", "cuDeviceGraphMemTrim", graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) < some / 2);
    done();
    MUST(cuDeviceGraphMemTrim(0));
    CUmemGenericAllocationHandle taken = created(some, &result);
    MUST(result);
    after(holds_most, NULL);
    conf_say_code("told", "cuGraphLaunch", cuGraphLaunch(exec, conf.nonblocking));
    done();
    MUST(cuMemRelease(taken));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuDeviceGraphMemTrim(0));
    MUST(cuMemGetInfo_v2(&now, &total));
    conf_say_bool("told", "all-is-back", now > first_free - most / 2);
}

/* ---- handles that are used again ---- */

static void fill(CUdeviceptr p, uint32_t value)
{
    MUST(cuMemsetD32_v2(p, value, N));
}

static uint32_t first_of(CUdeviceptr p)
{
    uint32_t word;
    MUST(cuMemcpyDtoH_v2(&word, p, sizeof word));
    return word;
}

static void say_word(const char *name, uint32_t word)
{
    char text[16];
    snprintf(text, sizeof text, "%u", word);
    conf_say("told", name, text);
}

static CUtexObject texture_of(CUdeviceptr p)
{
    const CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUDA_RESOURCE_DESC from = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUtexObject texture;
    from.res.linear.devPtr = p;
    from.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    from.res.linear.numChannels = 1;
    from.res.linear.sizeInBytes = N * 4;
    MUST(cuTexObjectCreate(&texture, &from, &how, NULL));
    return texture;
}

static void textures(void)
{
    CUdeviceptr old, other;
    MUST(cuMemAlloc_v2(&old, N * 4));
    MUST(cuMemAlloc_v2(&other, N * 4));
    fill(old, 3);
    fill(other, 4);
    object = texture_of(old);
    after(copies_texture, NULL);
    MUST(cuTexObjectDestroy(object));
    object = texture_of(other);
    done();
    say_word("texture-made-again", first_of(out));
    MUST(cuTexObjectDestroy(object));
    MUST(cuMemFree_v2(old));
    MUST(cuMemFree_v2(other));
}

static CUsurfObject surface_of(CUarray array)
{
    CUDA_RESOURCE_DESC from = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject surface;
    from.res.array.hArray = array;
    MUST(cuSurfObjectCreate(&surface, &from));
    return surface;
}

static void surfaces(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {N, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray old, other;
    fill(out, 5);
    MUST(cuArray3DCreate_v2(&old, &shape));
    MUST(cuArray3DCreate_v2(&other, &shape));
    MUST(cuMemcpyDtoA_v2(old, 0, out, N * 4));
    MUST(cuMemcpyDtoA_v2(other, 0, out, N * 4));
    object = surface_of(old);
    after(adds_to_surface, NULL);
    MUST(cuSurfObjectDestroy(object));
    object = surface_of(other);
    done();
    MUST(cuMemcpyAtoD_v2(out, old, 0, N * 4));
    say_word("surface-made-again", first_of(out));
    MUST(cuSurfObjectDestroy(object));
    MUST(cuArrayDestroy(old));
    MUST(cuArrayDestroy(other));
}

/* ---- streams and events ---- */

static void busy(const char *name, CUstream stream)
{
    conf_elsewhere(spins, stream);
    conf_say_code("told busy", name, cuStreamQuery(NULL));
    done();
    conf_say_code("told idle", name, cuStreamQuery(NULL));
}

static void queries(void)
{
    float ms;
    busy("0", NULL);
    busy("0x1", CU_STREAM_LEGACY);
    busy("0x2", CU_STREAM_PER_THREAD);
    busy("blocking", conf.blocking);
    busy("non-blocking", conf.nonblocking);
    after(spins, NULL);
    conf_say_code("told", "cuStreamQuery-0", cuStreamQuery(NULL));
    after(spins, CU_STREAM_PER_THREAD);
    conf_say_code("told", "cuStreamQuery-0-of-0x2", cuStreamQuery(NULL));
    after(spins, NULL);
    conf_say_code("told", "cuStreamQuery-0x1", cuStreamQuery(CU_STREAM_LEGACY));
    after(spins, conf.blocking);
    conf_say_code("told", "cuStreamQuery-blocking", cuStreamQuery(conf.blocking));
    after(spins, conf.blocking);
    conf_say_code("told", "cuEventQuery", cuEventQuery(event));
    after(spins, conf.blocking);
    conf_say_code("told", "cuEventElapsedTime", cuEventElapsedTime(&ms, event, event));
}

int main(void)
{
    CUmodule module;
    CUmemPoolProps of_device = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
    size_t total;
    conf_begin();
    of_device.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    MUST(cuMemPoolCreate(&pool, &of_device));
    spin_add = conf_kernel("spin_add");
    MUST(cuModuleLoadData(&module, ptds_textures_ptx));
    MUST(cuModuleGetFunction(&tex_copy, module, "tex_copy"));
    MUST(cuModuleGetFunction(&surf_add, module, "surf_add"));
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
    MUST(cuMemAlloc_v2(&spun, N * 4));
    MUST(cuMemAlloc_v2(&out, N * 4));
    conf_elsewhere(spins, NULL);
    done();
    MUST(cuMemGetInfo_v2(&first_free, &total));
    most = (first_free / 10 * 6) & ~(size_t)((1 << 24) - 1);
    allocations();
    amounts();
    graphs();
    textures();
    surfaces();
    queries();
    MUST(cuMemPoolDestroy(pool));
    return conf_end();
}
