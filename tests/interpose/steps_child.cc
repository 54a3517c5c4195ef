/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA program that does what its arguments say, one after the other, and prints for each what the driver saw. Streams
 * and events have names of one letter, streams also 0, 1 and 2; one context is made at the start.
 *
 *     stream:a nbstream:n destroy:a event:e context:x green:x primary:x use:x nocontext gone:x shimflags
 *     launch@a twinlaunch@0 attach@a single@0 record:e@a wait:e@a sync@a query@a flags@a graph@a esync:e ctxsync
 *     attr@a begin@a end@a twinbegin@0 twinend@0 copybatch@0 batch3d:D@a discard:D@a
 *     memset:D htod:H dtoh:H dtod copy:DH 2d:DH 3d:DH 3dpeer:DD peer atoh:H htoa:H atod dtoa atoa
 *     fill:D@a (a memset on a stream)
 *         memory kinds: D device, O other device memory, P pinned, H pageable
 *     absent (a function of CUDA 12.8)   own:a ownthread:a (ptds.h; 0 for none)   t:COMMAND (in a second thread)
 *     h:COMMAND (in the second thread, handed over and back by semaphores)   T:COMMAND H:COMMAND (in a third)
 *     n:COMMAND,COMMAND (in a new thread, which ends)   fork (what follows is the child's)   exit:7 (through destructors;
 * without it the program ends past them)
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <semaphore.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "interpose/ptds.h"
#include "tests/interpose/child_log.h"

namespace
{

ChildLog names;
std::map<std::string, CUstream> streams = {
    {"0", nullptr}, {"1", CU_STREAM_LEGACY}, {"2", CU_STREAM_PER_THREAD}, {"", nullptr}};
std::map<std::string, CUevent> events;
std::map<std::string, CUcontext> contexts;
CUgraph graph;
CUdeviceptr device, other_device;
void *pinned;
char pageable[256];

CUmemorytype type_of(char kind)
{
    return kind == 'D' ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

void *host(char kind)
{
    return kind == 'P' ? pinned : pageable;
}

CUdeviceptr address(char kind)
{
    return kind == 'D' ? device : kind == 'O' ? other_device : (CUdeviceptr)host(kind);
}

/* "DH": from device to host. */
template <class Copy> Copy volume(const std::string &kinds)
{
    Copy copy = {};
    copy.srcMemoryType = type_of(kinds[0]);
    copy.dstMemoryType = type_of(kinds[1]);
    copy.srcHost = host(kinds[0]);
    copy.dstHost = host(kinds[1]);
    copy.srcDevice = copy.dstDevice = device;
    copy.WidthInBytes = 16;
    copy.Height = 1;
    return copy;
}

struct Step {
    std::string verb, subject, stream;
};

Step parse(const std::string &text)
{
    Step step;
    size_t at = text.find('@'), colon = text.find(':');
    if (at != std::string::npos)
        step.stream = text.substr(at + 1);
    std::string rest = text.substr(0, at);
    step.verb = rest.substr(0, colon);
    if (colon != std::string::npos)
        step.subject = rest.substr(colon + 1);
    return step;
}

CUresult make(const Step &step)
{
    CUresult result = CUDA_ERROR_UNKNOWN;
    if (step.verb == "event") {
        result = cuEventCreate(&events[step.subject], 0);
        names.name(events[step.subject], step.subject);
    } else if (step.verb == "context") {
        result = cuCtxCreate_v2(&contexts[step.subject], 0, 0);
    } else if (step.verb == "green") {
        result = cuCtxFromGreenCtx(&contexts[step.subject], nullptr);
    } else if (step.verb == "primary") {
        result = cuDevicePrimaryCtxRetain(&contexts[step.subject], 0);
    } else {
        result =
            cuStreamCreate(&streams[step.subject], step.verb == "nbstream" ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        names.name(streams[step.subject], step.subject);
    }
    return result;
}

CUresult copy(const Step &step)
{
    const std::string &kinds = step.subject;
    char kind = kinds.empty() ? 'H' : kinds[0];
    if (step.verb == "memset")
        return cuMemsetD8_v2(address(kind), 0, 16);
    if (step.verb == "htod")
        return cuMemcpyHtoD_v2(device, host(kind), 16);
    if (step.verb == "dtoh")
        return cuMemcpyDtoH_v2(host(kind), device, 16);
    if (step.verb == "dtod")
        return cuMemcpyDtoD_v2(device, device + 64, 16);
    if (step.verb == "copy")
        return cuMemcpy(address(kinds[1]), address(kinds[0]), 16);
    if (step.verb == "peer")
        return cuMemcpyPeer(device, nullptr, device + 64, nullptr, 16);
    if (step.verb == "atoh")
        return cuMemcpyAtoH_v2(host(kind), nullptr, 0, 16);
    if (step.verb == "htoa")
        return cuMemcpyHtoA_v2(nullptr, 0, host(kind), 16);
    if (step.verb == "atod")
        return cuMemcpyAtoD_v2(device, nullptr, 0, 16);
    if (step.verb == "dtoa")
        return cuMemcpyDtoA_v2(nullptr, 0, device, 16);
    if (step.verb == "atoa")
        return cuMemcpyAtoA_v2(nullptr, 0, nullptr, 0, 16);
    if (step.verb == "3d") {
        auto parameters = volume<CUDA_MEMCPY3D>(kinds);
        parameters.Depth = 1;
        return cuMemcpy3D_v2(&parameters);
    }
    if (step.verb == "3dpeer") {
        auto parameters = volume<CUDA_MEMCPY3D_PEER>(kinds);
        parameters.Depth = 1;
        return cuMemcpy3DPeer(&parameters);
    }
    auto parameters = volume<CUDA_MEMCPY2D>(kinds);
    return cuMemcpy2D_v2(&parameters);
}

CUresult launch(CUstream stream)
{
    return cuLaunchKernel((CUfunction)0x11110, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

CUresult use_context(const Step &step)
{
    if (step.verb == "gone")
        return cuCtxDestroy_v2(contexts[step.subject]);
    return cuCtxSetCurrent(step.verb == "nocontext" ? nullptr : contexts[step.subject]);
}

/* The flags of the stream that the shim made, in place of a result. */
CUresult shim_flags()
{
    unsigned flags = 99;
    ((decltype(&cuStreamGetFlags))fake_address("cuStreamGetFlags"))(names.shims_stream(), &flags);
    names.take();
    return (CUresult)flags;
}

CUresult use_own(const Step &step)
{
    CUstream stream = streams[step.subject];
    int done = step.verb == "own" ? ptds_use_stream(stream) : ptds_use_stream_in_thread(stream);
    return done == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUstreamAttrValue attribute;

/* One volume from pageable memory. */
CUresult batch_3d(char kind, CUstream stream)
{
    CUDA_MEMCPY3D_BATCH_OP op = {};
    op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = address('H');
    op.dst.op.ptr.ptr = address(kind);
    op.extent = {4, 2, 2};
    return cuMemcpy3DBatchAsync_v2(1, &op, 0, stream);
}

CUresult discard(char kind, CUstream stream)
{
    CUdeviceptr at = address(kind);
    size_t bytes = 16;
    return cuMemDiscardBatchAsync(&at, &bytes, 1, 0, stream);
}

CUresult future(const char *name, CUstream stream)
{
    static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto function = reinterpret_cast<CUresult (*)(CUstream)>(dlsym(driver, name));
    return function ? function(stream) : CUDA_ERROR_NOT_FOUND;
}

CUresult on_stream(const Step &step, bool *known)
{
    CUstream stream = streams[step.stream];
    CUevent event = events[step.subject];
    unsigned flags;
    if (step.verb == "launch")
        return launch(stream);
    if (step.verb == "twinlaunch")
        return cuLaunchKernel_ptsz((CUfunction)0x11110, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
    if (step.verb == "fill")
        return cuMemsetD8Async(address(step.subject[0]), 0, 16, stream);
    if (step.verb == "attr")
        return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute);
    if (step.verb == "attach" || step.verb == "single")
        return cuStreamAttachMemAsync(stream, device, 16,
                                      step.verb == "single" ? CU_MEM_ATTACH_SINGLE : CU_MEM_ATTACH_GLOBAL);
    if (step.verb == "record")
        return cuEventRecord(event, stream);
    if (step.verb == "wait")
        return cuStreamWaitEvent(stream, event, 0);
    if (step.verb == "sync")
        return cuStreamSynchronize(stream);
    if (step.verb == "query")
        return cuStreamQuery(stream);
    if (step.verb == "flags")
        return cuStreamGetFlags(stream, &flags);
    if (step.verb == "graph")
        return cuGraphLaunch((CUgraphExec)0x61000, stream);
    if (step.verb == "begin")
        return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (step.verb == "twinbegin")
        return cuStreamBeginCapture_v2_ptsz(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (step.verb == "end")
        return cuStreamEndCapture(stream, &graph);
    if (step.verb == "twinend")
        return cuStreamEndCapture_ptsz(stream, &graph);
    if (step.verb == "copybatch")
        return cuMemcpyBatchAsync_v2(&device, &device, nullptr, 0, nullptr, nullptr, 0, stream);
    if (step.verb == "batch3d")
        return batch_3d(step.subject[0], stream);
    if (step.verb == "discard")
        return discard(step.subject[0], stream);
    if (step.verb == "future")
        return future("cuFutureAsync", stream);
    if (step.verb == "twinfuture")
        return future("cuFutureAsync_ptsz", stream);
    *known = false;
    return CUDA_SUCCESS;
}

CUresult go_on_in_child()
{
    fflush(stdout);
    int status = 0;
    const pid_t child = fork();
    if (child != 0) {
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    return CUDA_SUCCESS;
}

CUresult does(const Step &step)
{
    bool known = true;
    CUresult result = on_stream(step, &known);
    if (known)
        return result;
    if (step.verb == "stream" || step.verb == "nbstream" || step.verb == "event" || step.verb == "context" ||
        step.verb == "green" || step.verb == "primary")
        return make(step);
    if (step.verb == "destroy")
        return cuStreamDestroy_v2(streams[step.subject]);
    if (step.verb == "shimflags")
        return shim_flags();
    if (step.verb == "use" || step.verb == "nocontext" || step.verb == "gone")
        return use_context(step);
    if (step.verb == "own" || step.verb == "ownthread")
        return use_own(step);
    if (step.verb == "esync")
        return cuEventSynchronize(events[step.subject]);
    if (step.verb == "ctxsync")
        return cuCtxSynchronize();
    if (step.verb == "absent")
        return cuStreamGetDevice(nullptr, nullptr);
    if (step.verb == "fork")
        return go_on_in_child();
    if (step.verb == "exit")
        exit(std::stoi(step.subject));
    return copy(step);
}

/* The second and the third thread; they live to the end. "h:" hands over to the second and back by semaphores, "t:" by
 * turns only, which says nothing to the shim; "H:" and "T:" to the third. */
std::string given;
CUresult given_result;
std::atomic<int> turn; /* of the first thread 0, the others 1 and 2; -1: the first, once the others are there */
sem_t to_other[3], to_first;

void await_turn(int whose)
{
    while (turn != whose)
        usleep(50);
}

bool hands_over(const std::string &text)
{
    return text[0] == 'h' || text[0] == 'H';
}

void other_thread(int number, CUcontext context)
{
    cuCtxSetCurrent(context);
    turn = 0;
    for (;;) {
        await_turn(number);
        bool handed = hands_over(given);
        if (handed)
            sem_wait(&to_other[number]);
        given_result = does(parse(given.substr(2)));
        if (handed)
            sem_post(&to_first);
        turn = 0;
    }
}

/* 0: the first. */
int thread_for(const std::string &text)
{
    for (const char *prefix : {"t:", "h:", "T:", "H:"})
        if (text.rfind(prefix, 0) == 0)
            return prefix[0] > 'Z' ? 1 : 2;
    return 0;
}

/* Before any work, so that their creation hands over none. */
void start_thread(int number)
{
    turn = -1;
    std::thread(other_thread, number, contexts["first"]).detach();
    await_turn(0);
    names.take();
}

CUresult in_other_thread(int number, const std::string &text)
{
    given = text;
    if (hands_over(text))
        sem_post(&to_other[number]);
    turn = number;
    if (hands_over(text))
        sem_wait(&to_first);
    await_turn(0);
    return given_result;
}

CUresult in_new_thread(const std::string &text)
{
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
        cuCtxSetCurrent(contexts["first"]);
        std::stringstream commands(text.substr(2));
        for (std::string command; !result && std::getline(commands, command, ',');)
            result = does(parse(command));
    }).join();
    return result;
}

CUresult anywhere(const std::string &text)
{
    int number = thread_for(text);
    if (text.rfind("n:", 0) == 0)
        return in_new_thread(text);
    return number ? in_other_thread(number, text) : does(parse(text));
}

} // namespace

int main(int argc, char **argv)
{
    if (cuInit(0) || cuCtxCreate_v2(&contexts["first"], 0, 0) || cuMemAlloc_v2(&device, 4096) ||
        cuMemAlloc_v2(&other_device, 4096) || cuMemHostAlloc(&pinned, 4096, 0))
        return 2;
    names.take();
    for (int number : {1, 2})
        if (std::any_of(argv + 1, argv + argc, [=](const char *text) { return thread_for(text) == number; }))
            start_thread(number);
    for (int i = 1; i < argc; i++) {
        std::string text = argv[i];
        CUresult result = anywhere(text);
        std::string entries = names.take();
        printf("%s%s", entries.c_str(), result ? "" : "\n");
        if (result)
            printf("%s=%d\n", entries.empty() ? "" : " ", result);
    }
    fflush(stdout);
    quick_exit(0);
}
