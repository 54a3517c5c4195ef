// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about launches that record events when they begin, outside of captures and in one. Called by the runner
// (promises.c).

#include "tests/apps/handovers/promises.h"

static void read_on_default(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, WORDS);
}

static void wait_and_read_on_default(struct promise *p)
{
    CU(cuStreamWaitEvent(NULL, p->first, 0));
    read_on_default(p);
}

static void add_on_default(struct promise *p)
{
    slow_add(p, NULL);
}

static int is_added(struct promise *p)
{
    return device_are(p->seen, NEW + 1, WORDS);
}

static CUlaunchAttribute recording(CUlaunchAttributeID id, CUevent event)
{
    CUlaunchAttribute attribute = {.id = id};
    if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
        attribute.value.programmaticEvent.event = event;
        attribute.value.programmaticEvent.triggerAtBlockStart = 1;
    } else {
        attribute.value.launchCompletionEvent.event = event;
    }
    return attribute;
}

static CUresult launch_with(CUlaunchAttribute *attributes, unsigned count, CUstream stream, CUfunction function,
                            uint32_t threads, void **params)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = attributes,
                             .numAttrs = count};
    return cuLaunchKernelEx(&config, function, params, NULL);
}

static void launch_recording(struct promise *p, CUfunction function, uint32_t threads, void **params,
                             CUlaunchAttributeID id)
{
    CUlaunchAttribute attribute = recording(id, p->first);
    CU(launch_with(&attribute, 1, NULL, function, threads, params));
}

// The event does not tell that the kernel is done; stream 0 does.
static int launch_then_default(struct promise *p, CUlaunchAttributeID id)
{
    CUdeviceptr words = p->words;
    uint64_t ns = GATE_MS * 1000000ull;
    uint32_t count = WORDS;
    launch_recording(p, p->spin_add, WORDS, (void *[]){&words, &ns, &count}, id);
    elsewhere(p, wait_and_read_on_default);
    return is_added(p);
}

static int launch_completion(struct promise *p)
{
    return launch_then_default(p, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
}

static int launch_programmatic(struct promise *p)
{
    return launch_then_default(p, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
}

// Who waits for the event may be what the kernel waits for.
static int launch_lets_run(struct promise *p)
{
    CUdeviceptr flag = p->flag_device;
    launch_recording(p, p->app.hold, 1, (void *[]){&flag}, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
    CU(cuStreamWaitEvent(p->n, p->first, 0));
    mark(p, p->n, p->flag_device, 1);
    CU(cuCtxSynchronize());
    return *p->flag == 1;
}

// All that came before the kernel is done.
static void record_by_launch(struct promise *p)
{
    CUdeviceptr to = p->seen;
    uint32_t value = 0, count = 0;
    launch_recording(p, p->fill, 1, (void *[]){&to, &value, &count}, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
}

static int launch_then_nonblocking(struct promise *p)
{
    slow_add(p, NULL);
    elsewhere(p, record_by_launch);
    CU(cuStreamWaitEvent(p->n, p->first, 0));
    copy(p, p->n, p->seen, p->words, WORDS);
    return is_added(p);
}

// Both kinds of events at once: neither stands for what it was recorded behind before.
static void record_both_by_launch(struct promise *p)
{
    CUdeviceptr to = p->seen;
    uint32_t value = 0, count = 0;
    CUlaunchAttribute attributes[] = {recording(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, p->second),
                                      recording(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, p->first)};
    if (launch_with(attributes, 2, p->n, p->fill, 1, (void *[]){&to, &value, &count}) != CUDA_SUCCESS)
        p->no = "launches record one event at most here";
}

static int launch_records_two(struct promise *p)
{
    slow_add(p, NULL);
    CU(cuEventRecord(p->first, NULL));
    record_both_by_launch(p);
    elsewhere(p, wait_and_read_on_default);
    return is_added(p);
}

// ---- the same in a capture: the stream that waits is taken in, and gets nothing there that is not the program's ----

static CUresult fork_by_launch(struct promise *p, CUlaunchAttribute *attributes, unsigned count)
{
    CUdeviceptr to = p->seen;
    uint32_t value = 0, none = 0;
    CUresult result = launch_with(attributes, count, p->n, p->fill, 1, (void *[]){&to, &value, &none});
    if (result != CUDA_SUCCESS)
        p->no = "captured launches record no events here";
    if (result == CUDA_SUCCESS)
        result = cuStreamWaitEvent(p->m, p->first, 0);
    if (result == CUDA_SUCCESS) {
        elsewhere(p, add_on_default);
        result = cuStreamSynchronize(NULL); // all streams come after that, but for captured ones
    }
    if (result == CUDA_SUCCESS)
        result = app_add_one(&p->app, p->m, p->words, WORDS);
    if (result == CUDA_SUCCESS)
        result = cuEventRecord(p->second, p->m);
    return result == CUDA_SUCCESS ? cuStreamWaitEvent(p->n, p->second, 0) : result;
}

static int captured_launch(struct promise *p, CUlaunchAttribute *attributes, unsigned count)
{
    CUgraph graph = NULL;
    CUgraphExec exec;
    CU(cuEventRecord(p->first, p->n));
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult forked = fork_by_launch(p, attributes, count), ended = cuStreamEndCapture(p->n, &graph);
    if (forked != CUDA_SUCCESS || ended != CUDA_SUCCESS)
        return 0;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, NULL));
    elsewhere(p, read_on_default);
    return device_are(p->seen, NEW + 2, WORDS);
}

static int captured_completion(struct promise *p)
{
    CUlaunchAttribute one = recording(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, p->first);
    return captured_launch(p, &one, 1);
}

static int captured_programmatic(struct promise *p)
{
    CUlaunchAttribute one = recording(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, p->first);
    return captured_launch(p, &one, 1);
}

static int captured_both(struct promise *p)
{
    CUevent other;
    CU(cuEventCreate(&other, CU_EVENT_DISABLE_TIMING));
    CUlaunchAttribute two[] = {recording(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, other),
                               recording(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, p->first)};
    return captured_launch(p, two, 2);
}

const struct named_case cases_launches[] = {
    {"launch-records-completion", launch_completion, 0},
    {"launch-records-programmatic", launch_programmatic, 0},
    {"launch-records-and-lets-run", launch_lets_run, 0},
    {"launch-records-for-others", launch_then_nonblocking, 0},
    {"launch-records-two", launch_records_two, 0},
    {"captured-launch-records-completion", captured_completion, 0},
    {"captured-launch-records-programmatic", captured_programmatic, 0},
    {"captured-launch-records-both", captured_both, 0},
    {0},
};
