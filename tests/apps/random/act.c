// SPDX-License-Identifier: Apache-2.0
//
// The operations of a planned program as driver calls. Called by the threads in turn. Must never look at the plan's memory:
// what the host reads here comes from the driver alone.

#include "act.h"

#include <sched.h>
#include <string.h>

struct world world;

enum { BLOCK = 128, BYTES = MEM_WORDS * 4 };

static CUstream handle(const struct op *op)
{
    if (op->stream == LEGACY)
        return op->by_name ? CU_STREAM_LEGACY : NULL;
    if (world.plan->model.streams[op->stream].kind == KIND_PER_THREAD)
        return CU_STREAM_PER_THREAD;
    return world.streams[op->stream];
}

static CUdeviceptr device(const struct range *r)
{
    return world.memory[r->mem] + (CUdeviceptr)r->first * PART_WORDS * 4;
}

static uint32_t *host(const struct range *r)
{
    return world.host[r->mem] + r->first * PART_WORDS;
}

static void launch(CUfunction function, const struct op *op, CUstream s, void **params)
{
    CU(cuLaunchKernel(function, (op->to.words + BLOCK - 1u) / BLOCK, 1, 1, BLOCK, 1, 1, 0, s, params, NULL));
}

static void kernel(struct op *op, CUstream s)
{
    CUdeviceptr to = device(&op->to), from = device(&op->from), other = device(&op->other);
    uint32_t words = op->to.words;
    void *fill[] = {&to, &op->value, &words}, *copy[] = {&to, &from, &words}, *add[] = {&to, &from, &other, &words};
    switch (op->kind) {
    case KERNEL_FILL: launch(world.fill, op, s, fill); return;
    case KERNEL_COPY: launch(world.copy, op, s, copy); return;
    case KERNEL_ADD: launch(world.add, op, s, add); return;
    case KERNEL_ADD_ONE: CU(app_add_one(&world.app, s, to, words)); return;
    default: CU(cuLaunchKernel(world.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL)); return;
    }
}

static void set_words(uint32_t *words, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        words[i] = value;
}

// The source is another thing's memory again as soon as the call has returned.
static void from_pageable(const struct op *op, CUstream s)
{
    uint32_t words[MEM_WORDS];
    set_words(words, op->value, op->to.words);
    if (op->kind == PAGEABLE_TO_DEVICE)
        CU(cuMemcpyHtoDAsync(device(&op->to), words, op->to.words * 4u, s));
    else
        CU(cuMemcpyHtoD(device(&op->to), words, op->to.words * 4u));
    memset(words, 0xee, sizeof words);
}

static void to_pageable(struct op *op, CUstream s)
{
    uint32_t words[MEM_WORDS];
    memset(words, 0xdd, sizeof words);
    if (op->kind == DEVICE_TO_PAGEABLE)
        CU(cuMemcpyDtoHAsync(words, device(&op->from), op->from.words * 4u, s));
    else
        CU(cuMemcpyDtoH(words, device(&op->from), op->from.words * 4u));
    op->seen = reference_digest(words, op->from.words);
}

static void copy(struct op *op, CUstream s)
{
    size_t bytes = op->to.words * 4u;
    switch (op->kind) {
    case MEMSET: CU(cuMemsetD32Async(device(&op->to), op->value, op->to.words, s)); return;
    case MEMSET_SYNC: CU(cuMemsetD32(device(&op->to), op->value, op->to.words)); return;
    case DEVICE_TO_DEVICE: CU(cuMemcpyDtoDAsync(device(&op->to), device(&op->from), bytes, s)); return;
    case DEVICE_TO_DEVICE_SYNC: CU(cuMemcpyDtoD(device(&op->to), device(&op->from), bytes)); return;
    case PINNED_TO_DEVICE: CU(cuMemcpyHtoDAsync(device(&op->to), host(&op->from), bytes, s)); return;
    case PINNED_TO_DEVICE_SYNC: CU(cuMemcpyHtoD(device(&op->to), host(&op->from), bytes)); return;
    case DEVICE_TO_PINNED: CU(cuMemcpyDtoHAsync(host(&op->to), device(&op->from), bytes, s)); return;
    case DEVICE_TO_PINNED_SYNC: CU(cuMemcpyDtoH(host(&op->to), device(&op->from), bytes)); return;
    case PAGEABLE_TO_DEVICE:
    case PAGEABLE_TO_DEVICE_SYNC: from_pageable(op, s); return;
    default: to_pageable(op, s); return;
    }
}

static void function_writes(void *data)
{
    const struct op *op = data;
    set_words(host(&op->to), op->value, op->to.words);
}

static void function_reads(void *data)
{
    struct op *op = data;
    op->seen = reference_digest(host(&op->from), op->from.words);
}

static void until_ready(CUresult (*query)(void *), void *what)
{
    CUresult result;
    while ((result = query(what)) == CUDA_ERROR_NOT_READY)
        sched_yield();
    CU(result);
}

static CUresult query_stream(void *stream)
{
    return cuStreamQuery(stream);
}

static CUresult query_event(void *event)
{
    return cuEventQuery(event);
}

static void make_graph(const struct op *op)
{
    static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                CU_STREAM_CAPTURE_MODE_RELAXED};
    CUgraph graph;
    CUgraphExec *exec = &world.graphs[op->graph];
    CU(cuStreamBeginCapture(handle(op), modes[op->capture_mode]));
    for (unsigned i = 0; i < op->nodes; i++) {
        struct op *node = &world.plan->nodes[op->nodes_at + i];
        node->stream = op->stream;
        node->by_name = node->spin = 0;
        act(node);
    }
    CU(cuStreamEndCapture(handle(op), &graph));
    if (*exec)
        CU(cuGraphExecDestroy(*exec));
    CU(cuGraphInstantiateWithFlags(exec, graph, 0));
    CU(cuGraphDestroy(graph));
}

static void memory(struct op *op, CUstream s)
{
    CUdeviceptr *at = &world.memory[op->to.mem];
    switch (op->kind) {
    case POOL_ALLOC: CU(cuMemAllocAsync(at, BYTES, s)); break;
    case SCRATCH_ALLOC: CU(cuMemAlloc(at, BYTES)); break;
    case POOL_FREE: CU(cuMemFreeAsync(*at, s)); return;
    default: CU(cuMemFree(*at)); return;
    }
    CU(cuMemsetD32Async(*at, op->value, MEM_WORDS, s));
}

static void value(const struct op *op, CUstream s)
{
    CUdeviceptr flag = world.device_flags + op->flag * 4u;
    if (op->kind == VALUE_WAIT)
        CU(cuStreamWaitValue32(s, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    else if (op->kind == VALUE_WRITE)
        CU(cuStreamWriteValue32(s, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    else
        __atomic_store_n(&world.flags[op->flag], 1, __ATOMIC_RELEASE);
}

static void by_graph(const struct op *op, CUstream s)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUevent event = world.events[op->event];
    CU(cuGraphCreate(&graph, 0));
    if (op->kind == EVENT_RECORD_BY_GRAPH)
        CU(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    else
        CU(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, s));
    CU(cuGraphExecDestroy(exec)); // runs to its end all the same
    CU(cuGraphDestroy(graph));
}

static uint64_t nanoseconds(unsigned spin)
{
    return spin ? world.most_us * 1000ull >> (SPIN_LEVELS - 1 - spin) : 0;
}

static void by_kernel(const struct op *op, CUstream s)
{
    CUdeviceptr to = device(&op->to);
    uint64_t ns = nanoseconds(op->spin);
    uint32_t words = op->to.words;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    CUlaunchConfig config = {.gridDimX = (words + BLOCK - 1u) / BLOCK,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = BLOCK,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = s,
                             .attrs = &attribute,
                             .numAttrs = 1};
    attribute.value.launchCompletionEvent.event = world.events[op->event];
    CU(cuLaunchKernelEx(&config, world.spin_add, (void *[]){&to, &ns, &words}, NULL));
}

static void order(const struct op *op, CUstream s)
{
    switch (op->kind) {
    case EVENT_RECORD: CU(cuEventRecord(world.events[op->event], s)); return;
    case EVENT_WAIT: CU(cuStreamWaitEvent(s, world.events[op->event], 0)); return;
    case EVENT_RECORD_BY_GRAPH:
    case EVENT_WAIT_BY_GRAPH: by_graph(op, s); return;
    case EVENT_RECORD_BY_KERNEL: by_kernel(op, s); return;
    case EVENT_SYNCHRONIZE: CU(cuEventSynchronize(world.events[op->event])); return;
    case EVENT_QUERY: until_ready(query_event, world.events[op->event]); return;
    case STREAM_SYNCHRONIZE: CU(cuStreamSynchronize(s)); return;
    case STREAM_QUERY: until_ready(query_stream, s); return;
    default: CU(cuCtxSynchronize()); return;
    }
}

void act(struct op *op)
{
    CUstream s = handle(op);
    if (op->spin && op->kind != EVENT_RECORD_BY_KERNEL)
        CU(app_spin(&world.app, s, nanoseconds(op->spin)));
    if (op->kind <= KERNEL_EMPTY) {
        kernel(op, s);
        return;
    }
    if (op->kind <= DEVICE_TO_PAGEABLE_SYNC) {
        copy(op, s);
        return;
    }
    switch (op->kind) {
    case HOST_FUNCTION_WRITES: CU(cuLaunchHostFunc(s, function_writes, op)); return;
    case HOST_FUNCTION_READS: CU(cuLaunchHostFunc(s, function_reads, op)); return;
    case HOST_READS: op->seen = reference_digest(host(&op->from), op->from.words); return;
    case HOST_WRITES: set_words(host(&op->to), op->value, op->to.words); return;
    case GRAPH_MAKE: make_graph(op); return;
    case GRAPH_LAUNCH: CU(cuGraphLaunch(world.graphs[op->graph], s)); return;
    case POOL_ALLOC:
    case POOL_FREE:
    case SCRATCH_ALLOC:
    case SCRATCH_FREE: memory(op, s); return;
    case STREAM_CREATE: CU(cuStreamCreate(&world.streams[op->stream], CU_STREAM_DEFAULT)); return;
    case STREAM_DESTROY: CU(cuStreamDestroy(s)); return;
    case VALUE_WRITE:
    case VALUE_WAIT:
    case VALUE_BY_HOST: value(op, s); return;
    case THREAD_END: return;
    default: order(op, s); return;
    }
}
