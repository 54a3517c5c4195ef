/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that makes one kind of call, argv[1], in many situations, and looks whether anything
 * but the call itself has left its traces: errno, which the driver's other functions spoil (SIM_ERRNO_BUT), the pending
 * message of dlerror, and calls of malloc that come out of the shim. A line for each that has; the last one is "done".
 */
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <link.h>
#include <map>
#include <string>
#include <thread>

#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/interpose/simulated.h"
#include "tests/sim/sim_test_api.h"

extern "C" void *__libc_malloc(size_t size);

namespace
{

/* Of libptds.so, where it is; set before the first call. */
uintptr_t shim_begins, shim_ends;
thread_local bool watching;
thread_local int mallocs;

int find_shim(dl_phdr_info *info, size_t, void *)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strcmp(slash + 1, "libptds.so") != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && part.p_flags & PF_X) {
            shim_begins = info->dlpi_addr + part.p_vaddr;
            shim_ends = shim_begins + part.p_memsz;
        }
    }
    return 1;
}

CUstream blocking, free_running;
CUdeviceptr memory, other, pointers;
CUevent event;
CUgraphExec graph;
void *pinned;
char pageable[4096];
CUfunction fill, add_one, gather, empty;
CUmodule variables;

void launch(CUfunction function, CUstream stream, CUdeviceptr at, CUdeviceptr second = 0)
{
    uint32_t three = 3, one = 1;
    void *params[] = {&at, &three, &one, &one};
    if (second)
        params[1] = &second;
    CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
}

decltype(&sim_fail) fails_once;

/* Another thread's work is pending of which this one was promised that it is done. */
void leave_pending()
{
    const int saved = errno;
    std::thread([] {
        CU(cuCtxSetCurrent(context));
        launch(fill, nullptr, other);
    }).join();
    CU(cuStreamSynchronize(nullptr));
    errno = saved;
}

/* The program's calls, on that stream where they have one. */
const std::map<std::string, std::function<void(CUstream)>> calls = {
    {"launch", [](CUstream stream) { launch(fill, stream, memory); }},
    {"launch-unmet",
     [](CUstream stream) {
         static std::atomic<int> next{0};
         static const char *const names[] = {"add",    "copy",   "saxpy", "spin",     "spin_add",
                                             "ticket", "gather", "mark",  PTDS_GATHER};
         int at = next++ % 9;
         CUfunction function; /* which nobody has launched yet, but in later rounds */
         CUmodule of = at == 6 || at == 8 ? nullptr : module;
         int saved = errno;
         if (!of)
             CU(cuModuleLoadData(&of, ptds_tables_ptx));
         CU(cuModuleGetFunction(&function, of, names[at]));
         errno = saved;
         CUdeviceptr a = memory, b = pointers, c = other;
         uint32_t none = 0;
         uint64_t ns = 1;
         void *three[] = {&a, &b, &c, &none}, *two[] = {&a, &b, &none, &none}, *spins[] = {&ns},
              *spin_adds[] = {&a, &ns, &none}, *marks[] = {&pinned, &none}, *tickets[] = {&a, &c};
         void **params = at == 0   ? three
                         : at == 3 ? spins
                         : at == 4 ? spin_adds
                         : at == 5 ? tickets
                         : at == 7 ? marks
                                   : two;
         CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
     }},
    {"launch-ex",
     [](CUstream stream) {
         CUlaunchConfig config = {};
         config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
         config.hStream = stream;
         CU(cuLaunchKernelEx(&config, empty, nullptr, nullptr));
     }},
    {"launch-pinned", [](CUstream stream) { launch(gather, stream, memory, reinterpret_cast<CUdeviceptr>(pinned)); }},
    {"copy", [](CUstream) { CU(cuMemcpyHtoD(memory, pageable, 64)); }},
    {"copy-back", [](CUstream) { CU(cuMemcpyDtoH(pageable, memory, 64)); }},
    {"copy-async", [](CUstream stream) { CU(cuMemcpyHtoDAsync(memory, pinned, 64, stream)); }},
    {"set", [](CUstream) { CU(cuMemsetD8(memory, 0, 64)); }},
    {"set-async", [](CUstream stream) { CU(cuMemsetD8Async(memory, 0, 64, stream)); }},
    {"record", [](CUstream stream) { CU(cuEventRecord(event, stream)); }},
    {"wait", [](CUstream stream) { CU(cuStreamWaitEvent(stream, event, 0)); }},
    {"sync", [](CUstream stream) { CU(cuStreamSynchronize(stream)); }},
    {"query", [](CUstream stream) { cuStreamQuery(stream); }},
    {"event-sync", [](CUstream) { CU(cuEventSynchronize(event)); }},
    {"all-sync", [](CUstream) { CU(cuCtxSynchronize()); }},
    {"graph", [](CUstream stream) { CU(cuGraphLaunch(graph, stream)); }},
    {"host",
     [](CUstream stream) {
         CU(cuLaunchHostFunc(
             stream, [](void *) {}, nullptr));
     }},
    {"alloc",
     [](CUstream) {
         CUdeviceptr made;
         CU(cuMemAlloc(&made, 256));
         CU(cuMemFree(made));
     }},
    {"lacking",
     [](CUstream) {
         CUdeviceptr made;
         leave_pending();
         const int saved = errno;
         fails_once("cuMemAlloc_v2", 1, CUDA_ERROR_OUT_OF_MEMORY);
         if (cuMemAlloc(&made, 256) == CUDA_SUCCESS)
             CU(cuMemFree(made));
         else
             errno = saved; /* as without the shim: a driver that has no memory may say so there */
     }},
    {"info",
     [](CUstream) {
         size_t there, total;
         leave_pending();
         CU(cuMemGetInfo(&there, &total));
     }},
    {"copy-any", [](CUstream) { CU(cuMemcpy(memory, reinterpret_cast<CUdeviceptr>(pageable), 64)); }},
    {"module",
     [](CUstream) {
         CUmodule made;
         CUfunction function;
         CU(cuModuleLoadData(&made, ptds_test_ptx));
         CU(cuModuleGetFunction(&function, made, "fill"));
         CU(cuModuleUnload(made));
     }},
    {"global",
     [](CUstream) {
         CUdeviceptr at;
         size_t bytes;
         CU(cuModuleGetGlobal(&at, &bytes, variables, "ptds_var"));
     }},
    {"graph-made",
     [](CUstream) {
         CUgraph captured;
         CUgraphExec made;
         CU(cuStreamBeginCapture(free_running, CU_STREAM_CAPTURE_MODE_RELAXED));
         launch(fill, free_running, memory);
         CU(cuMemcpyHtoDAsync(memory, pinned, 64, free_running));
         CU(cuMemsetD8Async(memory, 0, 64, free_running));
         CU(cuStreamEndCapture(free_running, &captured));
         CU(cuGraphInstantiateWithFlags(&made, captured, 0));
         CU(cuGraphExecDestroy(made));
         CU(cuGraphDestroy(captured));
     }},
    {"attribute",
     [](CUstream stream) {
         CUstreamAttrValue value = {};
         value.syncPolicy = CU_SYNC_POLICY_AUTO;
         cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
     }},
    {"attributes", [](CUstream stream) { cuStreamCopyAttributes(stream, blocking); }},
    {"context",
     [](CUstream) {
         CUcontext made, popped;
         CU(cuCtxCreate(&made, nullptr, 0, 1));
         CU(cuCtxPopCurrent(&popped));
         CU(cuCtxDestroy(made));
     }},
    {"primary",
     [](CUstream) {
         CUcontext made;
         CU(cuDevicePrimaryCtxRetain(&made, 1));
         CU(cuCtxPushCurrent(made));
         CU(cuCtxPopCurrent(&made));
         CU(cuDevicePrimaryCtxRelease(1));
     }},
    {"mapped",
     [](CUstream) {
         CUmemAllocationProp prop = {};
         prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
         prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
         CUmemGenericAllocationHandle handle;
         CUdeviceptr at;
         CU(cuMemCreate(&handle, 2 << 20, &prop, 0));
         CU(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0));
         CU(cuMemMap(at, 2 << 20, 0, handle, 0));
         CU(cuMemUnmap(at, 2 << 20));
         CU(cuMemAddressFree(at, 2 << 20));
         CU(cuMemRelease(handle));
     }},
    {"stream",
     [](CUstream) {
         CUstream made;
         CU(cuStreamCreate(&made, CU_STREAM_DEFAULT));
         launch(fill, made, memory);
         CU(cuStreamDestroy(made));
     }},
};

void make_graph()
{
    CUgraph captured;
    CU(cuStreamBeginCapture(free_running, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill, free_running, memory);
    CU(cuStreamEndCapture(free_running, &captured));
    CU(cuGraphInstantiateWithFlags(&graph, captured, 0));
}

void prepare()
{
    start();
    fails_once = reinterpret_cast<decltype(&sim_fail)>(dlsym(RTLD_DEFAULT, "sim_fail"));
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
    CU(cuMemAlloc(&memory, 4096));
    CU(cuMemAlloc(&other, 4096));
    CU(cuMemAlloc(&pointers, 4096));
    CU(cuMemcpyHtoD(pointers, &memory, 8));
    CU(cuMemAllocHost(&pinned, 4096));
    memset(pinned, 0, 4096);
    memcpy(pinned, &memory, 8);
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    fill = kernel("fill");
    add_one = kernel("add_one");
    empty = kernel("empty");
    CUmodule tables;
    CU(cuModuleLoadData(&tables, ptds_tables_ptx));
    CU(cuModuleGetFunction(&gather, tables, "gather"));
    CU(cuModuleLoadData(&variables, ptds_variables_ptx));
    launch(fill, nullptr, memory);
    CU(cuCtxSynchronize());
    make_graph();
}

void look(const std::string &call, const char *situation, CUstream stream)
{
    const auto &makes = calls.at(call);
    dlsym(RTLD_DEFAULT, "nobody_has_this");
    mallocs = 0;
    errno = 77;
    watching = true;
    makes(stream);
    watching = false;
    int error = errno, made = mallocs;
    const char *message = dlerror();
    if (error != 77)
        printf("%s %s: errno %d\n", call.c_str(), situation, error);
    if (!message || !strstr(message, "nobody_has_this"))
        printf("%s %s: dlerror says %s\n", call.c_str(), situation, message ? message : "nothing");
    if (made)
        printf("%s %s: %d mallocs of the shim\n", call.c_str(), situation, made);
}

void on_each_stream(const std::string &call, const char *situation)
{
    for (CUstream stream : {static_cast<CUstream>(nullptr), blocking, free_running, CU_STREAM_PER_THREAD, CU_STREAM_LEGACY})
        look(call, situation, stream);
    look(call, "again", nullptr);
    look(call, "and again", nullptr);
}

/* Others' work on the same memory, so that there is something to wait for. */
void in_each_situation(const std::string &call)
{
    on_each_stream(call, "at first");
    for (CUstream behind : {static_cast<CUstream>(nullptr), blocking, free_running}) {
        std::thread([behind] {
            CU(cuCtxSetCurrent(context));
            launch(add_one, behind, memory, 1);
            launch(add_one, behind, other, 1);
            CU(cuEventRecord(event, behind));
        }).join();
        on_each_stream(call, behind == blocking ? "behind a blocking stream"
                             : behind           ? "behind another"
                                                : "behind a thread");
    }
    std::thread([call] {
        CU(cuCtxSetCurrent(context));
        on_each_stream(call, "a thread's first");
    }).join();
    std::thread([call] { /* the thread has not called anything */
                         CU(cuCtxPushCurrent(context));
                         look(call, "a new thread's first", nullptr);
    })
        .join();
    CU(cuCtxSynchronize());
}

} // namespace

extern "C" void *malloc(size_t size)
{
    uintptr_t from = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    if (watching && from >= shim_begins && from < shim_ends)
        mallocs++;
    return __libc_malloc(size);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !calls.count(argv[1]))
        return 2;
    dl_iterate_phdr(find_shim, nullptr);
    must(shim_begins ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, "libptds.so");
    prepare();
    in_each_situation(argv[1]);
    printf("done\n");
    return 0;
}
