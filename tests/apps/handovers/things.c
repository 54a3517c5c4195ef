// SPDX-License-Identifier: Apache-2.0
//
// What is handed over unfinished. The giver's work stands behind a gate that opens some milliseconds after it was given, so
// a taker's work that does not wait for it comes too early every time. Called by the ways (give, take) and by the runner.
// Must never wait for the giver's work before the taker was told.

#include "tests/apps/handovers/things.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 128 };

static CUfunction fill_kernel, copy_kernel, add_kernel, spin_kernel;
static CUdeviceptr ones, zeros; // in the gate's own memory

static void launch_fill(struct handover *h, CUstream stream, CUdeviceptr words, uint32_t value)
{
    (void)h;
    uint32_t count = WORDS;
    void *params[] = {&words, &value, &count};
    CU(cuLaunchKernel(fill_kernel, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void launch_copy(struct handover *h, CUstream stream, CUdeviceptr to, CUdeviceptr from)
{
    (void)h;
    uint32_t count = WORDS;
    void *params[] = {&to, &from, &count};
    CU(cuLaunchKernel(copy_kernel, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

// to = from + one of the constants. A kernel that reads the gate's memory comes after the gate whatever the streams are:
// where one thread's independent work may spread, it would pass the gate else.
static void launch_add(struct handover *h, CUstream stream, CUdeviceptr to, CUdeviceptr from, CUdeviceptr constants)
{
    (void)h;
    uint32_t count = WORDS;
    void *params[] = {&to, &from, &constants, &count};
    CU(cuLaunchKernel(add_kernel, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

// Whoever gives says when the gate opens; a thread that never calls CUDA opens it (table.c).
static void open_soon(struct handover *h)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long long ns = (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
    __atomic_store_n(&h->open_at, ns + h->gate.ms * 1000000ull, __ATOMIC_RELAXED);
}

static void hold(struct handover *h, CUstream stream)
{
    CU(gate_launch(&h->app, &h->gate, stream));
    open_soon(h);
}

static int all_are(const uint32_t *words, uint32_t value)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

// ---- the giver's part ----

static void give_kernel(struct handover *h)
{
    hold(h, NULL);
    launch_add(h, NULL, h->words, h->words, ones);
}

// Touches nothing that the host can touch: no wait on the host's account covers it.
static void give_device_kernel_on(struct handover *h, CUstream stream)
{
    uint64_t ns = h->gate.ms * 1000000ull;
    uint32_t count = WORDS;
    void *params[] = {&h->words, &ns, &count};
    CU(cuLaunchKernel(spin_kernel, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void give_device_kernel(struct handover *h)
{
    give_device_kernel_on(h, NULL);
}

static void give_blocking_kernel(struct handover *h)
{
    give_device_kernel_on(h, h->blocking[1]);
}

static void give_reader(struct handover *h)
{
    hold(h, NULL);
    launch_add(h, NULL, h->seen, h->words, zeros);
}

// A kernel's parameters do not tell that it only reads; a copy's source does.
static void give_copied(struct handover *h)
{
    hold(h, NULL);
    CU(cuMemcpyDtoDAsync(h->seen, h->words, BYTES, NULL));
}

static void give_copy_to_pinned(struct handover *h)
{
    hold(h, NULL);
    launch_add(h, NULL, h->words, h->words, zeros);
    CU(cuMemcpyDtoHAsync(h->pinned, h->words, BYTES, NULL));
}

static void give_mapped(struct handover *h)
{
    hold(h, NULL);
    launch_add(h, NULL, h->mapped_device, h->mapped_device, ones);
}

static void give_graph(struct handover *h)
{
    CU(cuGraphLaunch(h->graph, NULL));
    open_soon(h);
}

static void give_pool_reader(struct handover *h)
{
    hold(h, NULL);
    launch_add(h, NULL, h->seen, h->pooled, zeros);
}

// ---- the taker's ----

static void take_copy(struct handover *h)
{
    CU(cuMemcpyDtoDAsync(h->seen, h->words, BYTES, NULL));
}

static void take_kernel(struct handover *h)
{
    launch_copy(h, NULL, h->seen, h->words);
}

static void take_blocking(struct handover *h)
{
    launch_copy(h, h->blocking[0], h->seen, h->words);
}

static void take_nonblocking(struct handover *h)
{
    CU(cuEventRecord(h->event, NULL));
    CU(cuStreamWaitEvent(h->nonblocking, h->event, 0));
    launch_copy(h, h->nonblocking, h->seen, h->words);
}

static void take_graph(struct handover *h)
{
    CU(cuGraphLaunch(h->reading_graph, NULL));
}

static void take_overwrite(struct handover *h)
{
    launch_fill(h, NULL, h->words, OTHER);
}

static void take_after_sync(struct handover *h)
{
    CU(cuStreamSynchronize(NULL));
    h->right = all_are(h->pinned, OLD);
}

static void take_after_event(struct handover *h)
{
    CU(cuEventRecord(h->event, NULL));
    CU(cuEventSynchronize(h->event));
    h->right = all_are(h->pinned, OLD);
}

static void take_after_copy(struct handover *h)
{
    CU(cuMemcpyDtoH(h->pageable, h->other, BYTES));
    h->right = all_are(h->pinned, OLD);
}

static void take_mapped(struct handover *h)
{
    CU(cuStreamSynchronize(NULL));
    h->right = all_are(h->mapped, NEW);
}

static void take_free(struct handover *h)
{
    CU(cuMemFreeAsync(h->pooled, NULL));
    app_sleep_ms(1); // a free that waits for nothing has happened by now, and the same place is given again
    CU(cuMemAllocAsync(&h->pooled, BYTES, NULL));
    launch_fill(h, NULL, h->pooled, OTHER);
}

static void take_host_copy(struct handover *h)
{
    CU(cuMemcpyHtoD(h->words, h->pageable, BYTES));
}

// ---- what must have come out ----

static void judge_seen(struct handover *h, uint32_t value)
{
    static uint32_t words[WORDS];
    CU(cuMemcpyDtoH(words, h->seen, BYTES));
    h->right = all_are(words, value);
}

static void judge_new(struct handover *h)
{
    judge_seen(h, NEW);
}

static void judge_old(struct handover *h)
{
    judge_seen(h, OLD);
}

const struct thing things[THINGS] = {
    {"copy", give_kernel, take_copy, judge_new, 0},
    {"kernel", give_kernel, take_kernel, judge_new, 0},
    {"to-blocking", give_device_kernel, take_blocking, judge_new, 1},
    {"event-to-nonblocking", give_device_kernel, take_nonblocking, judge_new, 1},
    {"overwrite", give_reader, take_overwrite, judge_old, 0},
    {"pinned-sync", give_copy_to_pinned, take_after_sync, NULL, 0},
    {"pinned-event", give_copy_to_pinned, take_after_event, NULL, 0},
    {"pinned-other-copy", give_copy_to_pinned, take_after_copy, NULL, 0},
    {"mapped", give_mapped, take_mapped, NULL, 0},
    {"graph", give_graph, take_kernel, judge_new, 0},
    {"free-async", give_pool_reader, take_free, judge_old, 0},
    {"from-blocking", give_blocking_kernel, take_kernel, judge_new, 1},
    {"host-copy", give_reader, take_host_copy, judge_old, 0},
    {"to-graph", give_device_kernel, take_graph, judge_new, 0},
    {"overwrite-copied", give_copied, take_overwrite, judge_old, 0},
};

void give(struct handover *h)
{
    app_thread(&h->app); // at a thread's very end the driver may have ended its part of it
    h->thing->give(h);
}

void take(struct handover *h)
{
    app_thread(&h->app);
    h->thing->take(h);
}

// ---- before and after ----

static CUgraphExec end_graph(const struct handover *h)
{
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamEndCapture(h->nonblocking, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

static void make_graphs(struct handover *h)
{
    CU(cuStreamBeginCapture(h->nonblocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(gate_launch(&h->app, &h->gate, h->nonblocking));
    launch_add(h, h->nonblocking, h->words, h->words, ones);
    h->graph = end_graph(h);
    CU(cuStreamBeginCapture(h->nonblocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(h, h->nonblocking, h->seen, h->words);
    h->reading_graph = end_graph(h);
}

// The gate's word, and constants behind it.
static void make_gate(struct handover *h)
{
    void *host;
    CU(cuMemHostAlloc(&host, 3 * BYTES, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemHostGetDevicePointer(&h->gate.address, host, 0));
    h->gate.flag = memset(host, 0, 3 * BYTES);
    for (int i = 0; i < WORDS; i++)
        h->gate.flag[WORDS + i] = 1;
    ones = h->gate.address + BYTES;
    zeros = h->gate.address + 2 * BYTES;
}

void things_make(struct handover *h)
{
    void *host;
    make_gate(h);
    CU(cuModuleGetFunction(&add_kernel, h->app.module, "add"));
    CU(cuModuleGetFunction(&spin_kernel, h->app.module, "spin_add"));
    CU(cuModuleGetFunction(&fill_kernel, h->app.module, "fill"));
    CU(cuModuleGetFunction(&copy_kernel, h->app.module, "copy"));
    CU(cuMemAlloc(&h->words, BYTES));
    CU(cuMemAlloc(&h->seen, BYTES));
    CU(cuMemAlloc(&h->other, BYTES));
    CU(cuMemAllocAsync(&h->pooled, BYTES, NULL));
    CU(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    h->pinned = host;
    CU(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    h->mapped = host;
    CU(cuMemHostGetDevicePointer(&h->mapped_device, host, 0));
    h->pageable = malloc(BYTES);
    for (int i = 0; i < 2; i++)
        CU(cuStreamCreate(&h->blocking[i], CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&h->nonblocking, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&h->event, CU_EVENT_DISABLE_TIMING));
    launch_fill(h, NULL, h->words, OLD); // nothing is loaded lazily later
    launch_copy(h, NULL, h->seen, h->words);
    launch_add(h, NULL, h->seen, h->words, zeros);
    CU(cuLaunchKernel(spin_kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&h->seen, &(uint64_t){0}, &(uint32_t){0}}, NULL));
    make_graphs(h);
    CU(cuCtxSynchronize());
}

void things_reset(struct handover *h)
{
    CU(cuMemsetD32(h->words, OLD, WORDS));
    CU(cuMemsetD32(h->seen, 0, WORDS));
    CU(cuMemsetD32(h->other, OTHER, WORDS));
    CU(cuMemsetD32Async(h->pooled, OLD, WORDS, NULL));
    CU(cuCtxSynchronize());
    memset(h->pinned, 0, BYTES);
    for (int i = 0; i < WORDS; i++) {
        h->mapped[i] = OLD;
        h->pageable[i] = OTHER;
    }
    h->right = 0;
    __atomic_store_n(h->gate.flag, 0, __ATOMIC_RELEASE);
}

void things_judge(struct handover *h)
{
    CU(cuCtxSynchronize());
    if (h->thing->judge)
        h->thing->judge(h);
}
