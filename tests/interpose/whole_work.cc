/* SPDX-License-Identifier: Apache-2.0
 *
 * The graphs and kernels of whole_child.
 */
#include "tests/interpose/whole.h"

namespace
{

CUgraphExec made(CUgraph graph)
{
    CUgraphExec exec;
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuGraphUpload(exec, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, nullptr));
    return exec;
}

CUDA_MEMCPY3D line(CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from, copy.dstDevice = to;
    copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    return copy;
}

} // namespace

int graphs()
{
    CUgraph graph, child, clone;
    CUgraphNode copy, set, run, below, host;
    uint32_t count = 4, value = 9;
    CUdeviceptr third;
    prepare();
    CU(cuMemAlloc(&third, 4096));
    void *params[] = {&one, &value, &count}, *others[] = {&third, &value, &count};
    CU(cuGraphCreate(&graph, 0));
    CUDA_MEMCPY3D first = line(one, other);
    CU(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &first, context));
    CUDA_MEMSET_NODE_PARAMS fill = {one + 128, 0, 3, 4, 5, 1};
    CU(cuGraphAddMemsetNode(&set, graph, &copy, 1, &fill, context));
    CUDA_KERNEL_NODE_PARAMS launch_of = {};
    launch_of.func = kernel("fill");
    launch_of.gridDimX = launch_of.gridDimY = launch_of.gridDimZ = 1;
    launch_of.blockDimX = launch_of.blockDimY = launch_of.blockDimZ = 1;
    launch_of.kernelParams = params;
    CU(cuGraphAddKernelNode(&run, graph, &set, 1, &launch_of));
    CUgraphExec exec = made(graph);
    /* Other memory, in the executable graph alone; then in the graph. */
    launch_of.kernelParams = others;
    CU(cuGraphExecKernelNodeSetParams(exec, run, &launch_of));
    CU(cuGraphLaunch(exec, stream));
    CUDA_MEMCPY3D second = line(third, other);
    CU(cuGraphExecMemcpyNodeSetParams(exec, copy, &second, context));
    CU(cuGraphLaunch(exec, stream));
    fill.dst = third + 64;
    CU(cuGraphExecMemsetNodeSetParams(exec, set, &fill, context));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphClone(&clone, graph));
    CU(cuGraphMemcpyNodeSetParams(copy, &second));
    CU(cuGraphMemsetNodeSetParams(set, &fill));
    CU(cuGraphKernelNodeSetParams(run, &launch_of));
    CUgraphExec changed = made(graph), cloned = made(clone);
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphExecUpdate(cloned, graph, &info));
    CU(cuGraphLaunch(cloned, apart));
    /* One within another, and a host function. */
    CU(cuGraphCreate(&child, 0));
    CU(cuGraphAddChildGraphNode(&below, child, nullptr, 0, graph));
    CUDA_HOST_NODE_PARAMS function = {[](void *) {}, nullptr};
    CU(cuGraphAddHostNode(&host, child, &below, 1, &function));
    CUgraphExec nested = made(child);
    CU(cuCtxSynchronize());
    for (CUgraphExec each : {exec, changed, cloned, nested})
        CU(cuGraphExecDestroy(each));
    for (CUgraph each : {graph, clone, child})
        CU(cuGraphDestroy(each));
    cuGraphLaunch(nullptr, stream);
    return 0;
}

namespace
{

/* Kernels that PTX has and the simulated driver does not: each launch is refused, and recorded. */
const char many_parameters[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                               ".visible .entry sizes(.param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d, .param "
                               ".align 8 .b8 e[24])\n{\nret;\n}\n"
                               ".visible .entry many(.param .align 8 .b8 all[1024])\n{\nret;\n}\n"
                               ".visible .entry odd(.param .align 4 .b8 e[20], .param .u64 p)\n{\nret;\n}\n";
const char with_variables[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                              ".visible .const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
                              ".visible .global .align 8 .u64 kept[8];\n"
                              ".visible .entry uses(.param .u64 p)\n{\nret;\n}\n";
const char with_constants[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                              ".visible .const .align 4 .u32 only[4] = {1, 2, 3, 4};\n"
                              ".visible .entry reads(.param .u64 p)\n{\nret;\n}\n";

} // namespace

int kernels()
{
    CUmodule modules[3];
    CUfunction sizes, many, odd, uses, reads;
    CUdeviceptr variable;
    size_t bytes;
    prepare();
    const char *const texts[] = {many_parameters, with_variables, with_constants};
    for (int i = 0; i < 3; i++)
        CU(cuModuleLoadData(&modules[i], texts[i]));
    CU(cuModuleGetFunction(&sizes, modules[0], "sizes"));
    CU(cuModuleGetFunction(&many, modules[0], "many"));
    CU(cuModuleGetFunction(&odd, modules[0], "odd"));
    CU(cuModuleGetFunction(&uses, modules[1], "uses"));
    CU(cuModuleGetFunction(&reads, modules[2], "reads"));
    CU(cuModuleGetGlobal(&variable, &bytes, modules[1], "kept"));
    uint8_t a = 1;
    uint16_t b = 2;
    uint32_t c = 3;
    CUdeviceptr d = one + 8, e[3] = {other, 5, one + BYTES - 1}, past = one + BYTES;
    void *of_sizes[] = {&a, &b, &c, &d, e};
    cuLaunchKernel(sizes, 2, 3, 4, 5, 6, 7, 8, stream, of_sizes, nullptr);
    CUdeviceptr all[128];
    for (int i = 0; i < 128; i++)
        all[i] = i % 3 == 0 ? one + static_cast<CUdeviceptr>(i) : i % 3 == 1 ? other + 64 : static_cast<CUdeviceptr>(i);
    void *of_many[] = {all};
    cuLaunchKernel(many, 1, 1, 1, 1, 1, 1, 0, stream, of_many, nullptr);
    struct __attribute__((packed)) {
        uint32_t low[3];
        CUdeviceptr shifted;
        uint32_t gap;
        CUdeviceptr last;
    } of_odd = {{1, 2, 3}, one + 24, 0, other + 32};
    void *apart_of_odd[] = {&of_odd, &of_odd.last};
    cuLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, nullptr, apart_of_odd, nullptr);
    void *to_variable[] = {&variable}, *to_end[] = {&past}, *to_one[] = {&d};
    for (void **params : {to_variable, to_end, to_one}) {
        cuLaunchKernel(uses, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
        cuLaunchKernel(reads, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
    }
    CUdeviceptr buffer[5] = {0x0004000300020001, one, other, 7, one + 100};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_END};
    cuLaunchKernel(sizes, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra);
    size = 16; /* not all of them */
    cuLaunchKernel(sizes, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra);
    CU(cuMemcpyHtoD(variable, all, 16));
    CU(cuMemcpyDtoD(one, variable + 8, 8));
    cuLaunchKernel(uses, 1, 1, 1, 1, 1, 1, 0, stream, to_one, nullptr);
    CU(cuCtxSynchronize());
    for (CUmodule each : modules)
        CU(cuModuleUnload(each));
    cuMemsetD8(variable, 0, 8); /* gone with its module */
    return 0;
}

/* The same code by a library, its kernels and variables found in several ways. */
int libraries()
{
    CUlibrary library;
    CUkernel kernel_of;
    CUfunction function, by_module;
    CUmodule of_library;
    CUdeviceptr variable, again;
    size_t bytes;
    prepare();
    CU(cuLibraryLoadData(&library, with_variables, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CU(cuLibraryGetKernel(&kernel_of, library, "uses"));
    CU(cuKernelGetFunction(&function, kernel_of));
    CU(cuLibraryGetModule(&of_library, library));
    CU(cuModuleGetFunction(&by_module, of_library, "uses"));
    CU(cuLibraryGetGlobal(&variable, &bytes, library, "kept"));
    CU(cuModuleGetGlobal(&again, &bytes, of_library, "table"));
    void *params[] = {&one};
    for (CUfunction each : {reinterpret_cast<CUfunction>(kernel_of), function, by_module})
        cuLaunchKernel(each, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
    CU(cuMemcpyDtoD(variable, one, 8));
    CU(cuCtxSynchronize());
    CU(cuLibraryUnload(library));
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
    return 0;
}

/* Each call is made twice, since the driver may refuse the first one (SIM_FAIL): what it would have made is not there, what
 * it would have ended still is. */
int failures()
{
    CUdeviceptr third = 0, pooled = 0;
    CUstream more;
    CUevent event;
    CUarray array;
    CUmodule code;
    CUfunction function;
    CUgraph graph;
    CUgraphExec exec;
    void *host;
    alignas(4096) static char registered[4096];
    CUDA_ARRAY_DESCRIPTOR about = {64, 1, CU_AD_FORMAT_FLOAT, 1};
    uint32_t value = 1, count = 4;
    prepare();
    auto twice = [](auto call) {
        call();
        call();
    };
    for (int i = 0; i < 2; i++) {
        cuMemAlloc(&third, 4096);
        cuMemsetD8(third, 0, 16);
    }
    twice([&] { cuMemHostAlloc(&host, 4096, 0); });
    twice([&] { cuMemHostRegister(registered, sizeof registered, 0); });
    twice([&] { cuMemAllocAsync(&pooled, 1000, stream); });
    twice([&] { cuArrayCreate(&array, &about); });
    twice([&] { cuStreamCreate(&more, 0); });
    twice([&] { cuEventCreate(&event, 0); });
    twice([&] { cuEventRecord(event, more); });
    twice([&] { cuStreamWaitEvent(stream, event, 0); });
    twice([&] { cuModuleLoadData(&code, ptds_test_ptx); });
    twice([&] { cuModuleGetFunction(&function, code, "fill"); });
    void *params[] = {&third, &value, &count};
    twice([&] { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr); });
    twice([&] { cuMemcpyDtoD(one, third, 16); });
    twice([&] { cuMemsetD8Async(other, 0, 16, more); });
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    twice([&] { cuMemsetD8Async(third, 0, 16, stream); });
    CU(cuStreamEndCapture(stream, &graph));
    twice([&] { cuGraphInstantiate(&exec, graph, 0); });
    twice([&] { cuGraphLaunch(exec, stream); });
    twice([&] { cuStreamSynchronize(stream); });
    for (int i = 0; i < 2; i++) {
        cuMemcpyHtoA(array, 0, registered, 64);
        cuMemcpyHtoD(pooled, host, 64);
        cuMemsetD8(third, 0, 16);
        cuArrayDestroy(array);
        cuMemHostUnregister(registered);
        cuMemFreeHost(host);
        cuMemFreeAsync(pooled, stream);
        cuMemFree(third);
        cuEventDestroy(event);
        cuStreamDestroy(more);
        cuGraphExecDestroy(exec);
        cuModuleUnload(code);
    }
    return 0;
}
