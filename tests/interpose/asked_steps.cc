/* SPDX-License-Identifier: Apache-2.0
 *
 * What the steps of asked_child do (asked_steps.h): one driver call each, with the arguments that their words say.
 */
#include "tests/interpose/asked_steps.h"

#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "interpose/ptds.h"
#include "tests/kit/kernels.ptx.h"
#include "tests/sim/sim_test_api.h"

namespace
{

constexpr size_t BYTES = 256 << 10; /* halves begin away from what lies beside the memory */

AskedLog *names;
std::map<std::string, CUstream> streams = {
    {"", nullptr}, {"0", nullptr}, {"1", CU_STREAM_LEGACY}, {"2", CU_STREAM_PER_THREAD}};
std::map<std::string, CUevent> events;
std::map<std::string, CUcontext> contexts;
std::map<std::string, CUgraphExec> graphs;
std::map<char, CUdeviceptr> memories;
CUmodule module;
std::map<std::string, CUfunction> functions;
alignas(4096) char pageable[2][BYTES];

struct Range {
    CUdeviceptr at = 0;
    size_t bytes = BYTES;
    bool on_host = false;
};

/* The Nth memory of the subject. */
Range range(const Step &step, int number = 0)
{
    Range range;
    for (size_t i = 0; i < step.subject.size(); i++) {
        if (step.subject[i] < 'A' || number--)
            continue;
        range.at = memories[step.subject[i]];
        range.on_host = strchr("PQHI", step.subject[i]) != nullptr;
        const char half = step.subject[i + 1];
        if (half == '0' || half == '1') {
            range.bytes /= 2;
            range.at += half == '1' ? range.bytes : 0;
        }
        break;
    }
    return range;
}

template <class Function> Function by(bool twin, Function base, Function per_thread)
{
    return twin ? per_thread : base;
}
#define BY(name, suffix) by(step.twin, name, name##_##suffix)

CUresult launch(const Step &step, CUstream stream, const char *kernel, int pointers, const std::vector<unsigned> &numbers)
{
    CUdeviceptr at[2] = {range(step, 0).at, range(step, 1).at};
    void *parameters[8];
    std::vector<unsigned> words = numbers;
    for (int i = 0; i < pointers; i++)
        parameters[i] = &at[i];
    for (size_t i = 0; i < words.size(); i++)
        parameters[static_cast<size_t>(pointers) + i] = &words[i];
    if (step.verb != "fillx")
        return BY(cuLaunchKernel, ptsz)(functions[kernel], 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr);
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    return BY(cuLaunchKernelEx, ptsz)(&config, functions[kernel], parameters, nullptr);
}

bool kernel(const Step &step, CUstream stream, CUresult *result)
{
    const unsigned words = static_cast<unsigned>(range(step).bytes / 4);
    if (step.verb == "fill" || step.verb == "fillx")
        *result = launch(step, stream, KIT_FILL, 1, {7, words});
    else if (step.verb == "copy")
        *result = launch(step, stream, KIT_COPY, 2, {words});
    else if (step.verb == "inc")
        *result = launch(step, stream, KIT_ADD_ONE, 1, {words});
    else if (step.verb == "nop")
        *result = launch(step, stream, KIT_EMPTY, 0, {});
    else
        return false;
    return true;
}

CUDA_MEMCPY2D plane(const Range &to, const Range &from)
{
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = from.on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = to.on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.srcHost = reinterpret_cast<void *>(from.at);
    copy.dstHost = reinterpret_cast<void *>(to.at);
    copy.srcDevice = from.at;
    copy.dstDevice = to.at;
    copy.WidthInBytes = copy.srcPitch = copy.dstPitch = 64;
    copy.Height = std::min(to.bytes, from.bytes) / 64;
    return copy;
}

CUresult plain_copy(const Step &step, CUstream stream, const Range &to, const Range &from)
{
    const size_t bytes = std::min(to.bytes, from.bytes);
    void *const host = reinterpret_cast<void *>(to.on_host ? to.at : from.at);
    if (step.verb == "cp")
        return to.on_host     ? BY(cuMemcpyDtoHAsync_v2, ptsz)(host, from.at, bytes, stream)
               : from.on_host ? BY(cuMemcpyHtoDAsync_v2, ptsz)(to.at, host, bytes, stream)
                              : BY(cuMemcpyDtoDAsync_v2, ptsz)(to.at, from.at, bytes, stream);
    return to.on_host     ? BY(cuMemcpyDtoH_v2, ptds)(host, from.at, bytes)
           : from.on_host ? BY(cuMemcpyHtoD_v2, ptds)(to.at, host, bytes)
                          : BY(cuMemcpyDtoD_v2, ptds)(to.at, from.at, bytes);
}

bool copy(const Step &step, CUstream stream, CUresult *result)
{
    const Range to = range(step, 0), from = range(step, 1);
    const std::string &verb = step.verb;
    if (verb == "set")
        *result = BY(cuMemsetD32Async, ptsz)(to.at, 5, to.bytes / 4, stream);
    else if (verb == "sset")
        *result = BY(cuMemsetD32_v2, ptds)(to.at, 5, to.bytes / 4);
    else if (verb == "cp" || verb == "scp")
        *result = plain_copy(step, stream, to, from);
    else if (verb == "ucp")
        *result = BY(cuMemcpyAsync, ptsz)(to.at, from.at, std::min(to.bytes, from.bytes), stream);
    else if (verb == "sucp")
        *result = BY(cuMemcpy, ptds)(to.at, from.at, std::min(to.bytes, from.bytes));
    else if (verb == "cp2d" || verb == "scp2d") {
        const CUDA_MEMCPY2D parameters = plane(to, from);
        *result = verb == "cp2d" ? BY(cuMemcpy2DAsync_v2, ptsz)(&parameters, stream) : BY(cuMemcpy2D_v2, ptds)(&parameters);
    } else
        return false;
    return true;
}

bool memory(const Step &step, CUstream stream, CUresult *result)
{
    CUdeviceptr *at = &memories[step.subject.empty() ? 0 : step.subject[0]];
    size_t there, total;
    if (step.verb == "alloc")
        *result = BY(cuMemAllocAsync, ptsz)(at, BYTES, stream);
    else if (step.verb == "salloc")
        *result = cuMemAlloc_v2(at, BYTES);
    else if (step.verb == "info")
        *result = cuMemGetInfo_v2(&there, &total);
    else if (step.verb == "free")
        *result = BY(cuMemFreeAsync, ptsz)(std::exchange(*at, 0), stream);
    else if (step.verb == "sfree")
        *result = cuMemFree_v2(std::exchange(*at, 0));
    else if (step.verb == "attach")
        *result = BY(cuStreamAttachMemAsync, ptsz)(stream, *at, 0, CU_MEM_ATTACH_GLOBAL);
    else if (step.verb == "value")
        *result = BY(cuStreamWriteValue32_v2, ptsz)(stream, *at, 1, 0);
    else
        return false;
    if (step.verb.find("alloc") != std::string::npos && *result == CUDA_SUCCESS)
        names->name(*at, BYTES, step.subject);
    return true;
}

bool event(const Step &step, CUstream stream, CUresult *result)
{
    CUevent &event = events[step.subject.substr(0, 1)];
    float milliseconds;
    if (step.verb == "record")
        *result = BY(cuEventRecord, ptsz)(event, stream);
    else if (step.verb == "recordx")
        *result = BY(cuEventRecordWithFlags, ptsz)(event, stream, CU_EVENT_RECORD_EXTERNAL);
    else if (step.verb == "wait")
        *result = BY(cuStreamWaitEvent, ptsz)(stream, event, 0);
    else if (step.verb == "esync")
        *result = cuEventSynchronize(event);
    else if (step.verb == "equery")
        *result = cuEventQuery(event);
    else if (step.verb == "elapsed")
        *result = cuEventElapsedTime_v2(&milliseconds, event, events[step.subject.substr(1)]);
    else if (step.verb == "drop")
        *result = cuEventDestroy_v2(std::exchange(event, nullptr));
    else if (step.verb == "event" || step.verb == "timed") {
        *result = cuEventCreate(&event, step.verb == "timed" ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
        names->name(event, step.subject);
    } else
        return false;
    return true;
}

void nothing(void *)
{
}

void nothing_of_stream(CUstream, CUresult, void *)
{
}

bool stream_call(const Step &step, CUstream stream, CUresult *result)
{
    CUstream &subject = streams[step.subject];
    CUstreamAttrValue value = {};
    unsigned flags;
    int priority;
    if (step.verb == "sync")
        *result = BY(cuStreamSynchronize, ptsz)(stream);
    else if (step.verb == "query")
        *result = BY(cuStreamQuery, ptsz)(stream);
    else if (step.verb == "stream" || step.verb == "nbstream")
        *result = cuStreamCreate(&subject, step.verb == "stream" ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
    else if (step.verb == "priostream")
        *result = cuStreamCreateWithPriority(&subject, CU_STREAM_DEFAULT, -2);
    else if (step.verb == "destroy")
        *result = cuStreamDestroy_v2(std::exchange(subject, nullptr));
    else if (step.verb == "host")
        *result = BY(cuLaunchHostFunc, ptsz)(stream, nothing, &module);
    else if (step.verb == "callback")
        *result = BY(cuStreamAddCallback, ptsz)(stream, nothing_of_stream, &module, 0);
    else if (step.verb == "flags")
        *result = BY(cuStreamGetFlags, ptsz)(stream, &flags);
    else if (step.verb == "priority")
        *result = BY(cuStreamGetPriority, ptsz)(stream, &priority);
    else if (step.verb == "attribute")
        *result = BY(cuStreamSetAttribute, ptsz)(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
    else if (step.verb == "attributes")
        *result = BY(cuStreamCopyAttributes, ptsz)(subject, stream);
    else
        return false;
    if (step.verb.find("stream") != std::string::npos && *result == CUDA_SUCCESS)
        names->name(subject, step.subject);
    return true;
}

CUresult end_capture(const Step &step, CUstream stream)
{
    CUgraph graph = nullptr;
    CUresult result = BY(cuStreamEndCapture, ptsz)(stream, &graph);
    CUgraphExec &exec = graphs[step.subject];
    if (result == CUDA_SUCCESS)
        result = cuGraphInstantiateWithFlags(&exec, graph, 0);
    names->name(graph, "graph");
    names->name(exec, step.subject);
    return result ? result : cuGraphDestroy(graph);
}

bool graph(const Step &step, CUstream stream, CUresult *result)
{
    CUstreamCaptureStatus status;
    if (step.verb == "end")
        *result = end_capture(step, stream);
    else if (step.verb == "graph")
        *result = BY(cuGraphLaunch, ptsz)(graphs[step.subject], stream);
    else if (step.verb == "upload")
        *result = BY(cuGraphUpload, ptsz)(graphs[step.subject], stream);
    else if (step.verb == "capturing")
        *result = BY(cuStreamIsCapturing, ptsz)(stream, &status);
    else if (step.verb == "dropgraph")
        *result = cuGraphExecDestroy(std::exchange(graphs[step.subject], nullptr));
    else if (step.verb.compare(0, 5, "begin") == 0)
        *result =
            BY(cuStreamBeginCapture_v2, ptsz)(stream, step.verb == "begin"        ? CU_STREAM_CAPTURE_MODE_GLOBAL
                                                      : step.verb == "beginlocal" ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                                                                                  : CU_STREAM_CAPTURE_MODE_RELAXED);
    else
        return false;
    return true;
}

bool context_call(const Step &step, CUresult *result)
{
    CUcontext &subject = contexts[step.subject], popped;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (step.verb == "context" || step.verb == "farcontext") {
        *result = cuCtxCreate_v4(&subject, nullptr, 0, step.verb == "farcontext");
        names->name(subject, step.subject);
    } else if (step.verb == "use")
        *result = cuCtxSetCurrent(subject);
    else if (step.verb == "none")
        *result = cuCtxSetCurrent(nullptr);
    else if (step.verb == "push")
        *result = cuCtxPushCurrent_v2(subject);
    else if (step.verb == "pop")
        *result = cuCtxPopCurrent_v2(&popped);
    else if (step.verb == "gone")
        *result = cuCtxDestroy_v2(std::exchange(subject, nullptr));
    else if (step.verb == "all")
        *result = cuCtxSynchronize();
    else if (step.verb == "reset")
        *result = cuDevicePrimaryCtxReset_v2(0);
    else if (step.verb == "relaxed")
        *result = cuThreadExchangeStreamCaptureMode(&mode);
    else
        return false;
    return true;
}

/* What ptds.h offers answers with a number of its own. */
bool shims_own(const Step &step, CUresult *result)
{
    if (step.verb == "own")
        *result = CUresult(ptds_use_stream(streams[step.subject]));
    else if (step.verb == "ownthread")
        *result = CUresult(ptds_use_stream_in_thread(streams[step.subject]));
    else if (step.verb == "region")
        *result = CUresult(ptds_region_push(step.subject.c_str()));
    else if (step.verb == "regionend")
        *result = CUresult(ptds_region_pop());
    else if (step.verb == "flush")
        *result = CUresult(ptds_flush());
    else
        return false;
    return true;
}

template <class Function> Function of_simulator(const char *name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

CUresult fail(const std::string &what)
{
    std::stringstream words(what);
    std::string function, count, code;
    std::getline(words, function, ':');
    std::getline(words, count, ':');
    std::getline(words, code, ':');
    of_simulator<decltype(&sim_fail)>("sim_fail")(function.c_str(), std::stoul(count),
                                                  static_cast<CUresult>(std::stoi(code)));
    return CUDA_SUCCESS;
}

/* Memory that is not there, or not any more, is no step's. */
bool lacks_memory(const Step &step)
{
    bool lacks = false;
    if (step.verb.find("alloc") == std::string::npos && step.verb != "fail")
        for (const char name : {'X', 'Y'})
            lacks = lacks || (step.subject.find(name) != std::string::npos && !memories[name]);
    return lacks;
}

} // namespace

Step parse(std::string text)
{
    Step step;
    if (text[1] == '>') {
        step.thread = text[0] - '0';
        text = text.substr(2);
    }
    step.twin = text[0] == '~';
    text = text.substr(step.twin);
    const size_t at = text.find('@'), colon = text.find(':');
    if (at != std::string::npos)
        step.stream = text.substr(at + 1);
    step.verb = text.substr(0, std::min(at, colon));
    if (colon != std::string::npos)
        step.subject = text.substr(colon + 1, at == std::string::npos ? at : at - colon - 1);
    return step;
}

CUresult does(const Step &step)
{
    CUresult result = CUDA_ERROR_UNKNOWN;
    const CUstream stream = streams[step.stream];
    if (lacks_memory(step))
        return CUDA_ERROR_INVALID_VALUE;
    if (step.verb == "query" || step.verb == "equery" || step.verb == "elapsed")
        of_simulator<decltype(&sim_settle)>("sim_settle")(); /* so that the answer is always the same */
    if (step.verb == "fail")
        return fail(step.subject);
    if (!kernel(step, stream, &result) && !copy(step, stream, &result) && !memory(step, stream, &result) &&
        !event(step, stream, &result) && !stream_call(step, stream, &result) && !graph(step, stream, &result) &&
        !context_call(step, &result) && !shims_own(step, &result))
        std::cout << "no such step: " << step.verb << "\n";
    return result;
}

void enter()
{
    cuCtxSetCurrent(contexts["first"]);
}

bool start(AskedLog *log)
{
    names = log;
    CUcontext &first = contexts["first"];
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&first, 0) || cuCtxSetCurrent(first) || cuModuleLoadData(&module, kit_ptx))
        return false;
    names->name(first, "first");
    for (const char *kernel : {KIT_FILL, KIT_COPY, KIT_ADD_ONE, KIT_EMPTY}) {
        if (cuModuleGetFunction(&functions[kernel], module, kernel))
            return false;
        names->name(functions[kernel], kernel);
    }
    for (char name : {'A', 'B', 'C', 'D'})
        if (cuMemAlloc_v2(&memories[name], BYTES))
            return false;
    for (char name : {'P', 'Q'})
        if (cuMemHostAlloc(reinterpret_cast<void **>(&memories[name]), BYTES, 0))
            return false;
    if (cuMemAllocManaged(&memories['M'], BYTES, CU_MEM_ATTACH_GLOBAL))
        return false;
    memories['H'] = reinterpret_cast<CUdeviceptr>(pageable[0]);
    memories['I'] = reinterpret_cast<CUdeviceptr>(pageable[1]);
    for (const auto &memory : memories)
        names->name(memory.second, BYTES, std::string(1, memory.first));
    return true;
}
