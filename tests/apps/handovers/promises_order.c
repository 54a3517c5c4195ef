// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about work that must come after other work: destroyed streams, separators, events passed on, parts of
// an allocation, memory that a thread leaves behind, two devices. Called by the runner (promises.c).

#include "tests/apps/handovers/promises.h"
#include "tests/conformance/kernels.ptx.h"

// ---- what a stream promised outlives it ----

static int destroyed_then_default(struct promise *p)
{
    slow_add(p, p->a);
    CU(cuStreamDestroy(p->a));
    copy(p, NULL, p->seen, p->words, WORDS);
    return device_are(p->seen, NEW + 1, WORDS);
}

static void read_after_event_on_default(struct promise *p)
{
    CU(cuEventRecord(p->first, NULL));
    CU(cuStreamWaitEvent(p->n, p->first, 0));
    copy(p, p->n, p->seen, p->words, WORDS);
}

static int destroyed_then_event(struct promise *p)
{
    slow_add(p, p->a);
    CU(cuStreamDestroy(p->a));
    elsewhere(p, read_after_event_on_default);
    return device_are(p->seen, NEW + 1, WORDS);
}

static void read_after_first(struct promise *p)
{
    CU(cuStreamWaitEvent(p->m, p->first, 0));
    copy(p, p->m, p->seen, p->words, WORDS);
}

static int event_then_destroyed(struct promise *p)
{
    slow_add(p, p->n);
    CU(cuEventRecord(p->first, p->n));
    CU(cuStreamDestroy(p->n));
    elsewhere(p, read_after_first);
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- an operation without data between two blocking streams ----

static int read_on_b(struct promise *p)
{
    copy(p, p->b, p->seen, p->words, WORDS);
    return device_are(p->seen, NEW + 1, WORDS);
}

static void launch_empty(struct promise *p)
{
    CU(cuLaunchKernel(p->empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static int separated_by_kernel(struct promise *p)
{
    slow_add(p, p->a);
    elsewhere(p, launch_empty);
    return read_on_b(p);
}

static void record_on_default(struct promise *p)
{
    CU(cuEventRecord(p->first, NULL));
}

static int separated_by_event(struct promise *p)
{
    slow_add(p, p->a);
    elsewhere(p, record_on_default);
    return read_on_b(p);
}

static void wait_on_default(struct promise *p)
{
    CU(cuStreamWaitEvent(NULL, p->first, 0));
}

static int separated_by_wait(struct promise *p)
{
    slow_add(p, p->n);
    CU(cuEventRecord(p->first, p->n));
    elsewhere(p, wait_on_default);
    return read_on_b(p);
}

// From one non-blocking stream over stream 0 to another.
static int passed_on(struct promise *p)
{
    slow_add(p, p->n);
    CU(cuEventRecord(p->second, p->n));
    CU(cuStreamWaitEvent(NULL, p->second, 0));
    elsewhere(p, record_on_default);
    CU(cuStreamWaitEvent(p->m, p->first, 0));
    copy(p, p->m, p->seen, p->words, WORDS);
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- parts of an allocation ----

enum { HALF = WORDS / 2 };

static void write_upper_half(struct promise *p)
{
    fill(p, p->n, p->words + HALF * 4, OTHER, HALF);
}

static void read_lower_half(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, HALF);
}

// Who wrote the rest is not forgotten over a write that is ordered with nothing.
static int half_by_nonblocking(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->ones, HALF);
    write_upper_half(p);
    elsewhere(p, read_lower_half);
    return device_are(p->seen, NEW + 1, HALF) && device_are(p->words + HALF * 4, OTHER, HALF);
}

static int half_by_nonblocking_elsewhere(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->ones, HALF);
    elsewhere(p, write_upper_half);
    elsewhere(p, read_lower_half);
    return device_are(p->seen, NEW + 1, HALF) && device_are(p->words + HALF * 4, OTHER, HALF);
}

// ---- small copies from pinned memory: read when the call is made, if their own stream is idle ----

static int small_copy(struct promise *p, CUstream from, CUstream to)
{
    shut(p, from);
    add(p, from, p->words, p->zeros, WORDS);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, from));
    CU(cuMemcpyHtoDAsync(p->seen, p->pinned, BYTES, to));
    return device_are(p->seen, NEW, WORDS);
}

static int small_copy_to_default(struct promise *p)
{
    return small_copy(p, p->a, NULL);
}

static int small_copy_to_blocking(struct promise *p)
{
    return small_copy(p, NULL, p->b);
}

static int small_copy_to_per_thread(struct promise *p)
{
    return small_copy(p, NULL, CU_STREAM_PER_THREAD);
}

static void copy_back(struct promise *p)
{
    CU(cuMemcpyHtoDAsync(p->seen, p->pinned, BYTES, NULL));
}

static int small_copy_elsewhere(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->zeros, WORDS);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, NULL));
    elsewhere(p, copy_back);
    return device_are(p->seen, NEW, WORDS);
}

// ---- threads that end, threads that do not take turns ----

static void leave_pool_memory(struct promise *p)
{
    CUdeviceptr pooled;
    CU(cuMemAllocAsync(&pooled, BYTES, NULL));
    fill(p, NULL, pooled, OTHER - 1, WORDS);
    shut(p, NULL);
    add(p, NULL, pooled, p->ones, WORDS);
    copy(p, NULL, p->seen, pooled, WORDS);
    CU(cuMemFreeAsync(pooled, NULL));
}

static int pool_memory_left(struct promise *p)
{
    elsewhere(p, leave_pool_memory);
    return device_are(p->seen, OTHER, WORDS);
}

static void leave_work(struct promise *p)
{
    slow_add(p, NULL);
}

static int work_left(struct promise *p)
{
    elsewhere(p, leave_work);
    copy(p, NULL, p->seen, p->words, WORDS);
    return device_are(p->seen, NEW + 1, WORDS);
}

enum { ADDERS = 4, ADDS = 100 };

static void add_often(unsigned index, void *shared)
{
    struct promise *p = shared;
    (void)index;
    for (int i = 0; i < ADDS; i++)
        CU(app_add_one(&p->app, NULL, p->words, WORDS));
}

static int adds_at_once(struct promise *p)
{
    app_threads(&p->app, ADDERS, add_often, p);
    return device_are(p->words, NEW + ADDERS * ADDS, WORDS);
}

// ---- two devices: a copy between them waits for the default streams of both ----

static struct app peer;
static CUdeviceptr peer_words;

static int make_peer(struct promise *p)
{
    int count = 0;
    CU(cuDeviceGetCount(&count));
    if (count < 2) {
        p->no = "one device";
        return 0;
    }
    peer = p->app;
    CU(cuDeviceGet(&peer.device, 1));
    CU(cuDevicePrimaryCtxRetain(&peer.context, peer.device));
    CU(cuCtxSetCurrent(peer.context));
    CU(cuModuleLoadData(&peer.module, ptds_test_ptx));
    CU(cuModuleGetFunction(&peer.add_one, peer.module, "add_one"));
    CU(cuModuleGetFunction(&peer.hold, peer.module, "gate"));
    CU(cuMemAlloc(&peer_words, BYTES));
    CU(cuMemsetD32(peer_words, NEW, WORDS));
    CU(cuCtxSynchronize());
    CU(cuCtxSetCurrent(p->app.context));
    return 1;
}

static void slow_add_on_peer(struct promise *p)
{
    CU(cuCtxSetCurrent(peer.context));
    gate_shut(&peer, &p->gate, NULL);
    CU(app_add_one(&peer, NULL, peer_words, WORDS));
}

static int peer_copy_reads(struct promise *p)
{
    if (!make_peer(p))
        return 0;
    elsewhere(p, slow_add_on_peer);
    CU(cuMemcpyPeer(p->seen, p->app.context, peer_words, peer.context, BYTES));
    return device_are(p->seen, NEW + 1, WORDS);
}

static void slow_add_here(struct promise *p)
{
    slow_add(p, NULL);
}

static int peer_copy_reads_here(struct promise *p)
{
    if (!make_peer(p))
        return 0;
    elsewhere(p, slow_add_here);
    CU(cuCtxSetCurrent(peer.context));
    CU(cuMemcpyPeer(peer_words, peer.context, p->words, p->app.context, BYTES));
    return device_are(peer_words, NEW + 1, WORDS);
}

// What follows it on either device comes after it.
static void add_on_peer(struct promise *p)
{
    (void)p;
    CU(cuCtxSetCurrent(peer.context));
    CU(app_add_one(&peer, NULL, peer_words, WORDS));
}

static int peer_copy_then_there(struct promise *p)
{
    if (!make_peer(p))
        return 0;
    slow_add(p, NULL);
    CU(cuMemcpyPeer(peer_words, peer.context, p->words, p->app.context, BYTES));
    elsewhere(p, add_on_peer);
    CU(cuCtxSynchronize());
    CU(cuCtxSetCurrent(peer.context));
    return device_are(peer_words, NEW + 2, WORDS);
}

const struct named_case cases_order[] = {
    {"destroyed-then-default", destroyed_then_default, 0},
    {"destroyed-then-event", destroyed_then_event, 0},
    {"event-then-destroyed", event_then_destroyed, 0},
    {"separated-by-kernel", separated_by_kernel, 0},
    {"separated-by-event", separated_by_event, 0},
    {"separated-by-wait", separated_by_wait, 0},
    {"passed-on-over-default", passed_on, 0},
    {"half-by-nonblocking", half_by_nonblocking, 0},
    {"half-by-nonblocking-elsewhere", half_by_nonblocking_elsewhere, 0},
    {"small-copy-blocking-to-0", small_copy_to_default, 1},
    {"small-copy-0-to-blocking", small_copy_to_blocking, 1},
    {"small-copy-0-to-per-thread", small_copy_to_per_thread, 1},
    {"small-copy-other-thread", small_copy_elsewhere, 0},
    {"pool-memory-left-by-thread", pool_memory_left, 0},
    {"work-left-by-thread", work_left, 0},
    {"adds-at-once", adds_at_once, 0},
    {"peer-copy-reads-there", peer_copy_reads, 0},
    {"peer-copy-reads-here", peer_copy_reads_here, 0},
    {"peer-copy-then-there", peer_copy_then_there, 0},
    {0},
};
