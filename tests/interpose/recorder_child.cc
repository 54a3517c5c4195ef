/* SPDX-License-Identifier: Apache-2.0
 *
 * An ordinary program for the simulated driver, in the situations that the recorder writes down; argv[1] says which. Knows
 * nothing of the shim but, through NVTX, that somebody may listen.
 *
 *     hostfuncs       host functions and callbacks: plain, refused, captured, and many at once
 *     nvtx            ranges, domains, wide and registered texts, a thread's name; before and after the first CUDA call
 *     names           threads that change their names after their first call
 *     spins N         N kernels of 20 us on a stream, with host functions and captures between them
 *     spins N runtime the same, each within a call of the runtime, as CUPTI sees it
 *     streams         default-stream work and work on two blocking streams in turn
 *     turns NS        kernels of so many nanoseconds on the default stream, each by another thread, handed over
 *     heir            a thread that has its lane from one whose work is not done
 *     passing N       N streams, regions and, a fiftieth as many, threads that come and go; one of each stays
 *     contexts N      N contexts that come and go, work and all; says by how many kB the process has grown meanwhile
 *     elsewhere       memory freed while another context than its own is current, and while its own is
 *     waits FILE CALL a CALL (copy, free, unmap, stream, context, event) behind another thread's work, until FILE is there
 *     hang FILE [BEGIN]   a kernel that waits, and a cuMemFree of another thread, once BEGIN is there; goes on when FILE is
 */
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "tests/interpose/simulated.h"

namespace
{

void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

void launch(CUfunction function, CUstream stream, std::vector<void *> params)
{
    CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params.data(), nullptr));
}

struct Gate {
    uint32_t *flag;
    CUdeviceptr address;
    Gate()
    {
        void *memory;
        CU(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
        CU(cuMemHostGetDevicePointer(&address, memory, 0));
        flag = static_cast<uint32_t *>(memory);
        *flag = 0;
    }
    void shut(CUstream stream)
    {
        launch(kernel("gate"), stream, {&address});
    }
    void open()
    {
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    }
};

int ran[4];
bool right = true;

void CUDA_CB count_one(void *data)
{
    __atomic_add_fetch(static_cast<int *>(data), 1, __ATOMIC_RELAXED);
}

void CUDA_CB called_back(CUstream stream, CUresult status, void *data)
{
    right = right && status == CUDA_SUCCESS && stream != nullptr;
    count_one(data);
}

int many_at_once(CUstream stream)
{
    static int order[3000], at;
    Gate gate;
    gate.shut(stream);
    for (int &place : order)
        CU(cuLaunchHostFunc(
            stream, [](void *data) { *static_cast<int *>(data) = at++; }, &place));
    gate.open();
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 3000; i++)
        right = right && order[i] == i;
    return 3000;
}

int hostfuncs()
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuLaunchHostFunc(stream, count_one, &ran[0]));
    CU(cuStreamAddCallback(stream, called_back, &ran[1], 0));
    CU(cuStreamSynchronize(stream));
    right = right && cuLaunchHostFunc(stream, nullptr, &ran[0]) != CUDA_SUCCESS;
    right = right && cuStreamAddCallback(stream, called_back, &ran[0], 77) != CUDA_SUCCESS;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchHostFunc(stream, count_one, &ran[2]));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuLaunchHostFunc(nullptr, count_one, &ran[3]));
    CU(cuCtxSynchronize());
    many_at_once(stream);
    printf("%d %d %d %d %s\n", ran[0], ran[1], ran[2], ran[3], right ? "right" : "WRONG");
    return 0;
}

void empty(CUstream stream)
{
    launch(kernel("empty"), stream, {});
}

nvtxEventAttributes_t attributes(nvtxStringHandle_t registered)
{
    nvtxEventAttributes_t made = {};
    made.version = NVTX_VERSION;
    made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    made.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    made.message.registered = registered;
    return made;
}

int nvtx()
{
    nvtxRangePushA("whole");
    nvtxRangePushA("begun and ended before");
    nvtxRangePop();
    nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), "the one that works");
    nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), nullptr);
    nvtxNameOsThreadA(UINT32_MAX, "nobody's");
    start();
    CUfunction function = kernel("empty");
    launch(function, nullptr, {}); /* whole */
    nvtxRangePushW(L"gr\u00f6\u00dfer \U0001f600");
    launch(function, nullptr, {}); /* the wide one */
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library"), again = nvtxDomainCreateA("library");
    nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "solve");
    nvtxEventAttributes_t event = attributes(text);
    nvtxRangeId_t range = nvtxRangeStartA("step 1");
    nvtxDomainRangePushEx(domain, &event);
    launch(function, nullptr, {}); /* solve@library */
    nvtxRangePop();                /* the wide one, though a range of the domain was begun later */
    launch(function, nullptr, {}); /* solve@library */
    nvtxDomainRangePop(again);
    launch(function, nullptr, {}); /* whole */
    nvtxRangePop();
    nvtxRangePop();                /* one too many */
    launch(function, nullptr, {}); /* none */
    std::thread([range] { nvtxRangeEnd(range); }).join();
    CU(cuCtxSynchronize());
    return 0;
}

int names()
{
    sem_t begun, finish;
    sem_init(&begun, 0, 0);
    sem_init(&finish, 0, 0);
    std::thread ends([] {
        CU(cuCtxSetCurrent(context));
        empty(nullptr);
        pthread_setname_np(pthread_self(), "named at end");
    });
    ends.join();
    std::thread stays([&] {
        CU(cuCtxSetCurrent(context));
        empty(nullptr);
        pthread_setname_np(pthread_self(), "named at exit");
        sem_post(&begun);
        sem_wait(&finish);
    });
    stays.detach();
    sem_wait(&begun);
    exit(0);
}

int two_streams()
{
    CUstream a, b;
    CUdeviceptr of_a, of_b;
    uint32_t count = 4;
    CU(cuMemAlloc(&of_a, 64));
    CU(cuMemAlloc(&of_b, 64));
    CU(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    launch(kernel("add_one"), a, {&of_a, &count});
    launch(kernel("add_one"), b, {&of_b, &count});
    launch(kernel("copy"), nullptr, {&of_a, &of_b, &count}); /* comes after both */
    launch(kernel("add_one"), a, {&of_a, &count});           /* comes after the default stream */
    CU(cuStreamSynchronize(nullptr));
    CU(cuStreamQuery(nullptr));
    launch(kernel("add_one"), a, {&of_a, &count});
    cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); /* refused */
    return 0;
}

/* Five threads' default-stream work on one memory, each handed over by a thread's beginning or end; `ns`: how long it
 * takes, and the thread waits for half a millisecond before it hands over. */
int turns(uint64_t ns)
{
    CUfunction spin = kernel("spin_ns"), add = kernel("add_one");
    CUdeviceptr memory;
    uint32_t count = 4;
    CU(cuMemAlloc(&memory, 64));
    auto turn = [&] {
        CU(cuCtxSetCurrent(context));
        launch(spin, nullptr, {&ns});
        launch(add, nullptr, {&memory, &count});
        usleep(500);
    };
    turn();
    std::thread([&] {
        turn();
        std::thread(turn).join();
    }).join();
    turn();
    std::thread(turn).join();
    turn();
    return 0;
}

/* A thread that has its lane from one whose work is not done, and does not know of it, hands over work of its own that is:
 * that says nothing of the other's. */
int heir()
{
    std::atomic<bool> go{false};
    sem_t shut;
    sem_init(&shut, 0, 0);
    Gate gate;
    std::thread starts([&] {
        while (!go) /* which the shim does not see */
            usleep(100);
        std::thread([] {
            CU(cuCtxSetCurrent(context));
            empty(nullptr);
            usleep(2000);
        }).join();
    });
    std::thread([&] {
        CU(cuCtxSetCurrent(context));
        gate.shut(nullptr);
        sem_post(&shut); /* handed over by an event, not by its end */
    }).join();
    sem_wait(&shut);
    go = true;
    starts.join();
    empty(nullptr);
    usleep(2000);
    must(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "still behind the first");
    gate.open();
    CU(cuCtxSynchronize());
    return 0;
}

/* What CUPTI is told when a program enters a function of the runtime, and leaves it. */
void (*runtime)(int enters);

struct InRuntime {
    InRuntime()
    {
        enters(1);
    }
    ~InRuntime()
    {
        enters(0);
    }
    static void enters(int now)
    {
        if (runtime)
            runtime(now);
    }
};

void find_runtime()
{
    void *cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
    runtime = cupti ? reinterpret_cast<void (*)(int)>(dlsym(cupti, "fake_cupti_runtime")) : nullptr;
    must(runtime ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, "fake_cupti_runtime");
}

/* Every 50th launch is captured instead, and a sync comes every 100. */
int spins(int times)
{
    CUstream stream;
    CUgraph graph;
    CUfunction spin = kernel("spin_ns");
    uint64_t ns = 20000;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 1; i <= times; i++) {
        bool captured = i % 50 == 0;
        if (captured)
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        {
            InRuntime call;
            launch(spin, i % 3 || captured ? stream : nullptr, {&ns});
        }
        if (captured) {
            size_t nodes = 0;
            CU(cuStreamEndCapture(stream, &graph));
            CU(cuGraphGetNodes(graph, nullptr, &nodes));
            must(nodes == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "one node in the graph");
        }
        if (i % 100 == 0)
            CU(cuCtxSynchronize());
    }
    CU(cuCtxSynchronize());
    for (int i = 0; i < 100; i++) {
        InRuntime call;
        empty(stream);
    }
    CU(cuCtxSynchronize());
    return 0;
}

void free_one(CUdeviceptr memory)
{
    pthread_setname_np(pthread_self(), "cleaner");
    CU(cuCtxSetCurrent(context));
    CU(cuMemFree(memory));
}

long resident_kb()
{
    long size = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld %ld", &size, &resident) != 2)
        must(CUDA_ERROR_OPERATING_SYSTEM, "statm");
    fclose(statm);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

void one_context()
{
    CUcontext made;
    CUstream stream;
    CUdeviceptr memory;
    CU(cuCtxCreate(&made, nullptr, 0, 0));
    CU(cuMemAlloc(&memory, 4096));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemsetD8Async(memory, 1, 16, nullptr));
    CU(cuMemsetD8Async(memory, 2, 16, stream));
    CU(cuMemFree(memory));
    CU(cuCtxDestroy(made));
}

int contexts(int count)
{
    long before = 0;
    for (int i = 0; i < count; i++) {
        if (i == count / 4)
            before = resident_kb();
        one_context();
    }
    printf("%ld\n", resident_kb() - before);
    return 0;
}

void wait_for(const char *file)
{
    while (access(file, F_OK) != 0)
        usleep(1000);
}

const size_t mapped = 2 << 20;

/* In a call site of its own; what the other thread put on the default stream is what it waits for. */
__attribute__((noinline)) void wait_by(const std::string &call, CUdeviceptr memory)
{
    char read[16];
    CUevent event;
    CU(cuCtxSetCurrent(context));
    if (call == "copy")
        CU(cuMemcpyDtoH(read, memory, sizeof read));
    else if (call == "free")
        CU(cuMemFree(memory));
    else if (call == "unmap")
        CU(cuMemUnmap(memory, mapped));
    else if (call == "stream")
        CU(cuStreamSynchronize(nullptr));
    else if (call == "context")
        CU(cuCtxSynchronize());
    else {
        CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        CU(cuEventRecord(event, nullptr));
        CU(cuEventSynchronize(event));
    }
}

CUdeviceptr map_memory()
{
    CUmemAllocationProp about = {};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemAccessDesc access = {about.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr memory;
    CU(cuMemCreate(&handle, mapped, &about, 0));
    CU(cuMemAddressReserve(&memory, mapped, 0, 0, 0));
    CU(cuMemMap(memory, mapped, 0, handle, 0));
    CU(cuMemSetAccess(memory, mapped, &access, 1));
    return memory;
}

int waits(const char *go_on, const std::string &call)
{
    CUdeviceptr memory = call == "unmap" ? map_memory() : 0;
    if (!memory)
        CU(cuMemAlloc(&memory, 4096));
    Gate gate;
    gate.shut(nullptr);
    CU(cuMemsetD8Async(memory, 1, 4096, nullptr));
    std::thread waiter(wait_by, call, memory);
    wait_for(go_on);
    gate.open();
    waiter.join();
    return 3;
}

/* begin: the file that it waits for before it hangs; or NULL. */
int hang(const char *go_on, const char *begin)
{
    CUstream stream;
    CUdeviceptr memory;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuMemAlloc(&memory, 4096));
    Gate gate;
    if (begin) {
        say("waits");
        wait_for(begin);
    }
    gate.shut(stream);
    std::thread cleaner(free_one, memory);
    say("ready");
    wait_for(go_on);
    gate.open();
    cleaner.join();
    say("done");
    return 3;
}

void fill_in_thread(CUdeviceptr memory)
{
    CU(cuCtxSetCurrent(context));
    CU(cuMemsetD8Async(memory, 1, 16, nullptr));
}

int passing(int count)
{
    CUstream stream, stays;
    CUdeviceptr memory;
    CU(cuMemAlloc(&memory, 4096));
    CU(cuStreamCreate(&stays, CU_STREAM_DEFAULT));
    nvtxRangePushA("all of it");
    nvtxRangePushA("loop");
    for (int i = 0; i < count; i++) {
        CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
        nvtxRangePushA(("step " + std::to_string(i)).c_str());
        CU(cuMemsetD8Async(memory, 1, 16, stream));
        nvtxRangePop();
        CU(cuMemsetD8Async(memory, 2, 16, i % 100 ? nullptr : stays));
        CU(cuStreamDestroy(stream));
        if (i % 50 == 0)
            std::thread(fill_in_thread, memory).join();
    }
    nvtxRangePop();
    CU(cuMemsetD8Async(memory, 3, 16, stays));
    CU(cuCtxSynchronize());
    return 0;
}

int elsewhere()
{
    CUdeviceptr here, there;
    void *pinned;
    CUcontext other, popped;
    CU(cuMemAlloc(&here, 64));
    CU(cuMemHostAlloc(&pinned, 64, 0));
    CU(cuCtxCreate(&other, nullptr, 0, 0));
    CU(cuMemAlloc(&there, 64));
    CU(cuMemFree(here));
    CU(cuMemFreeHost(pinned));
    CU(cuMemAlloc(&here, 64));
    CU(cuCtxPopCurrent(&popped));
    CU(cuMemFree(here));
    CU(cuMemFree(there));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "nvtx")
        return nvtx();
    errno = 1234; /* what is set up with the first calls is none of the program's business */
    start();
    if (errno != 1234) {
        fprintf(stderr, "errno is %d\n", errno);
        return 1;
    }
    if (mode == "hostfuncs")
        return hostfuncs();
    if (mode == "names")
        return names();
    if (mode == "streams")
        return two_streams();
    if (mode == "elsewhere")
        return elsewhere();
    if (mode == "heir")
        return heir();
    if (mode == "turns" && argc > 2)
        return turns(strtoull(argv[2], nullptr, 10));
    if (mode == "spins" && argc > 3)
        find_runtime();
    if (mode == "spins" && argc > 2)
        return spins(atoi(argv[2]));
    if (mode == "passing" && argc > 2)
        return passing(atoi(argv[2]));
    if (mode == "contexts" && argc > 2)
        return contexts(atoi(argv[2]));
    if (mode == "waits" && argc > 3)
        return waits(argv[2], argv[3]);
    if (mode == "hang" && argc > 2)
        return hang(argv[2], argc > 3 ? argv[3] : nullptr);
    return 2;
}
