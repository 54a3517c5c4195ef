/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that kernels reach in other ways than by a parameter that points at it (variables of a module, pointers in device
 * memory, texture and surface objects), mapped ranges, and graphs that are asked and changed. All on the legacy stream.
 */
#include <string.h>

#include "tests/conformance/conf.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"

enum { N = 256, CHUNK = 2 << 20 };

static CUmodule load(const char *text)
{
    CUmodule module;
    MUST(cuModuleLoadData(&module, text));
    return module;
}

static void run(CUmodule module, const char *name, void **parameters)
{
    CUfunction f;
    MUST(cuModuleGetFunction(&f, module, name));
    MUST(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
}

static CUdeviceptr words(uint32_t value)
{
    CUdeviceptr p;
    MUST(cuMemAlloc_v2(&p, N * 4));
    MUST(cuMemsetD32_v2(p, value, N));
    return p;
}

static bool all(CUdeviceptr p, uint32_t value, size_t n)
{
    uint32_t got[N];
    bool same = true;
    MUST(cuMemcpyDtoH_v2(got, p, n * 4));
    for (size_t i = 0; i < n; i++)
        same = same && got[i] == value;
    return same;
}

static void variables(void)
{
    CUmodule a = load(ptds_variables_ptx), b = load(ptds_variables_ptx);
    CUdeviceptr in_a, in_b, start, base, dst = words(0);
    size_t bytes = 0, whole = 0;
    uint32_t five = 5, seven = 7, n = N, got[4];
    CUmemorytype type = (CUmemorytype)0;
    MUST(cuModuleGetGlobal_v2(&in_a, &bytes, a, "ptds_var"));
    MUST(cuModuleGetGlobal_v2(&in_b, NULL, b, "ptds_var"));
    MUST(cuModuleGetGlobal_v2(&start, NULL, a, "ptds_start"));
    conf_say_bool("variable", "size", bytes == N * 4);
    conf_say_bool("variable", "one-a-module", in_a != in_b);
    conf_say_code("variable", "absent", cuModuleGetGlobal_v2(&base, NULL, a, "absent"));
    MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, in_a));
    conf_say_bool("variable", "is-device-memory", type == CU_MEMORYTYPE_DEVICE);
    conf_say_code("? variable", "address-range", cuMemGetAddressRange_v2(&base, &whole, in_a));
    conf_say_bool("? variable", "range-is-the-variable", base == in_a && whole == N * 4);
    conf_say_code("variable", "free", cuMemFree_v2(in_a));
    run(a, "var_set", (void *[]){&five});
    run(b, "var_set", (void *[]){&seven});
    run(a, "var_add", (void *[]){&n});
    run(b, "var_get", (void *[]){&dst, &n});
    conf_say_bool("variable", "set-add", all(in_a, 6, N));
    conf_say_bool("variable", "get", all(dst, 7, N));
    MUST(cuMemcpyDtoH_v2(got, start, sizeof got));
    conf_say_bool("variable", "initial-values", got[0] == 3 && got[1] == 1 && got[2] == 4 && got[3] == 1);
    MUST(cuModuleUnload(a));
    MUST(cuModuleUnload(b));
    MUST(cuMemFree_v2(dst));
}

static void tables(void)
{
    static const char *const names[][2] = {{"scatter", "gather"}, {PTDS_SCATTER, PTDS_GATHER}};
    CUmodule module = load(ptds_tables_ptx);
    CUdeviceptr parts[3] = {words(1), words(1), words(1)}, table = words(0), dst = words(0);
    uint32_t two = 2, three = 3, value = 10, n = N;
    MUST(cuMemcpyHtoD_v2(table, parts, sizeof parts));
    for (int i = 0; i < 2; i++, value *= 10) {
        run(module, names[i][0], (void *[]){&table, &two, &value, &n});
        run(module, names[i][1], (void *[]){&dst, &table, &three, &n});
        conf_say_bool("table", names[i][1], all(dst, 2 * value + 1, N) && all(parts[1], value, N));
    }
    uint64_t deep[500] = {0};
    deep[499] = parts[2];
    run(module, "deep_add", (void *[]){deep, &n});
    conf_say_bool("table", "deep_add", all(parts[2], 2, N));
    MUST(cuModuleUnload(module));
    for (int i = 0; i < 3; i++)
        MUST(cuMemFree_v2(parts[i]));
    MUST(cuMemFree_v2(table));
    MUST(cuMemFree_v2(dst));
}

static void objects(void)
{
    CUmodule module = load(ptds_textures_ptx);
    CUdeviceptr linear = words(8), dst = words(0);
    CUarray array;
    CUtexObject texture;
    CUsurfObject surface;
    uint32_t n = N;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {N, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    const CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUDA_RESOURCE_DESC from = {.resType = CU_RESOURCE_TYPE_LINEAR};
    from.res.linear.devPtr = linear;
    from.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    from.res.linear.numChannels = 1;
    from.res.linear.sizeInBytes = (N - 8) * 4;
    MUST(cuTexObjectCreate(&texture, &from, &how, NULL));
    run(module, "tex_copy", (void *[]){&dst, &texture, &n});
    conf_say_bool("texture", "linear", all(dst, 8, N - 8));
    conf_say_bool("texture", "outside-is-0", all(dst + (N - 8) * 4, 0, 8));
    MUST(cuArray3DCreate_v2(&array, &shape));
    MUST(cuMemcpyDtoA_v2(array, 0, linear, N * 4));
    from = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
    from.res.array.hArray = array;
    MUST(cuSurfObjectCreate(&surface, &from));
    run(module, "surf_add", (void *[]){&surface, &n});
    MUST(cuMemcpyAtoD_v2(dst, array, 0, N * 4));
    conf_say_bool("surface", "add", all(dst, 9, N));
    MUST(cuSurfObjectDestroy(surface));
    from.resType = CU_RESOURCE_TYPE_LINEAR;
    conf_say_code("surface", "of-linear", cuSurfObjectCreate(&surface, &from));
    MUST(cuTexObjectDestroy(texture));
    MUST(cuArrayDestroy(array));
    MUST(cuModuleUnload(module));
    MUST(cuMemFree_v2(linear));
    MUST(cuMemFree_v2(dst));
}

/* A range of three chunks: the first one, another, the first one again. */
static void mapped(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle chunks[2];
    CUdeviceptr range, base = 0;
    size_t granularity = 0, whole = 0;
    MUST(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    conf_say_bool("mapped", "2-MiB", granularity == CHUNK);
    MUST(cuMemAddressReserve(&range, 3 * CHUNK, 0, 0, 0));
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            MUST(cuMemCreate(&chunks[i], CHUNK, &prop, 0));
        MUST(cuMemMap(range + (CUdeviceptr)i * CHUNK, CHUNK, 0, chunks[i % 2], 0));
    }
    MUST(cuMemSetAccess(range, 3 * CHUNK, &access, 1));
    MUST(cuMemsetD32_v2(range, 1, 3 * CHUNK / 4));
    MUST(cuMemsetD32_v2(range + CHUNK - N * 2, 2, N));
    conf_say_bool("mapped", "across-chunks", all(range + CHUNK - N * 2, 2, N));
    conf_say_bool("mapped", "same-bytes-twice", all(range + 3 * CHUNK - N * 2, 2, N / 2));
    conf_say_code("mapped", "free", cuMemFree_v2(range));
    MUST(cuMemGetAddressRange_v2(&base, &whole, range + CHUNK + 9));
    conf_say("? mapped", "range", base == range + CHUNK && whole == CHUNK ? "chunk" : base == range ? "all" : "other");
    conf_say_code("mapped", "unmap-a-part", cuMemUnmap(range, CHUNK / 2));
    MUST(cuCtxSynchronize());
    MUST(cuMemUnmap(range, 3 * CHUNK));
    MUST(cuMemRelease(chunks[0]));
    MUST(cuMemRelease(chunks[1]));
    MUST(cuMemAddressFree(range, 3 * CHUNK));
}

static void graphs(void)
{
    CUdeviceptr p = words(0), q = words(0);
    uint32_t n = N;
    void *parameters[] = {&p, &n};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS k = {.func = conf.add_one, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32};
    k.blockDimY = k.blockDimZ = 1;
    k.kernelParams = parameters;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &k));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphKernelNodeGetParams_v2(node, &k));
    conf_say_bool("node", "kernel-parameters", memcmp(k.kernelParams[0], &p, sizeof p) == 0 && k.func == conf.add_one);
    parameters[0] = &q;
    k.kernelParams = parameters;
    MUST(cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
    MUST(cuGraphLaunch(exec, NULL));
    conf_say_bool("node", "set-in-exec", all(p, 0, N) && all(q, 1, N));
    MUST(cuGraphExecUpdate_v2(exec, graph, &(CUgraphExecUpdateResultInfo){0}));
    MUST(cuGraphLaunch(exec, NULL));
    conf_say_bool("node", "update", all(p, 1, N) && all(q, 1, N));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuMemFree_v2(p));
    MUST(cuMemFree_v2(q));
}

/* Does the address of memory whose free has not run yet come back to who comes after it? */
static void reuse(void)
{
    static const char *const names[] = {"same-stream", "by-an-event", "unordered"};
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 3; i++) {
        CUdeviceptr p, q;
        CUstream second = i ? conf.nonblocking2 : conf.nonblocking;
        MUST(cuMemAllocAsync(&p, 4 << 20, conf.nonblocking));
        uint32_t *gate = conf_gate(conf.nonblocking, false);
        MUST(cuMemFreeAsync(p, conf.nonblocking));
        MUST(cuEventRecord(event, conf.nonblocking));
        if (i == 1)
            MUST(cuStreamWaitEvent(second, event, 0));
        MUST(cuMemAllocAsync(&q, 4 << 20, second));
        conf_say("? pool", names[i], p == q ? "same" : "other");
        MUST(cuMemFreeAsync(q, second));
        conf_open(gate);
        MUST(cuCtxSynchronize());
    }
    MUST(cuEventDestroy_v2(event));
}

int main(void)
{
    conf_begin();
    variables();
    tables();
    objects();
    mapped();
    graphs();
    reuse();
    return conf_end();
}
