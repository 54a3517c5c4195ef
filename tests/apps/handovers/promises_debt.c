// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about what a host that has waited may take for granted of work that only the device can see: it unmaps
// the memory, shows it to another process, asks whether the work is done, or is told so by a graph's kernel. Called by the
// runner (promises.c).

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/handovers/promises.h"
#include "tests/kit/kernels.ptx.h"

extern char **environ;

enum { SLOW_MS = 150 };

static CUdeviceptr written; // by what is slow
static CUstream on;

static void work_slowly(struct promise *p)
{
    uint64_t ns = SLOW_MS * 1000000ull;
    uint32_t count = WORDS;
    CU(cuLaunchKernel(p->spin_add, WORDS / 128, 1, 1, 128, 1, 1, 0, on, (void *[]){&written, &ns, &count}, NULL));
}

static void work_and_record(struct promise *p)
{
    CU(cuEventRecord(p->first, on));
    work_slowly(p);
    CU(cuEventRecord(p->second, on));
}

static void sync_default(struct promise *p)
{
    (void)p;
    CU(cuStreamSynchronize(NULL));
}

static void no_wait(struct promise *p)
{
    (void)p;
}

static void copy_other_memory(struct promise *p)
{
    uint32_t word;
    CU(cuMemcpyDtoH(&word, p->seen, sizeof word));
}

static void sync_event_of_default(struct promise *p)
{
    CUevent event;
    (void)p;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(cuEventRecord(event, NULL));
    CU(cuEventSynchronize(event));
}

typedef void step(struct promise *p);

// Another thread's work on the default stream, or this one's on the blocking stream; then the host waits.
static void after(struct promise *p, CUstream stream, step *work, step *wait)
{
    on = stream;
    if (stream)
        work(p);
    else
        elsewhere(p, work);
    wait(p);
}

// ---- memory that is unmapped ----

static CUmemGenericAllocationHandle chunk;
static size_t chunk_bytes;

static CUmemAccessDesc access_of(struct promise *p, CUmemAccess_flags flags)
{
    return (CUmemAccessDesc){{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = p->app.device}, flags};
}

static void map_chunk(struct promise *p)
{
    CUmemAccessDesc access = access_of(p, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(cuMemMap(written, chunk_bytes, 0, chunk, 0));
    CU(cuMemSetAccess(written, chunk_bytes, &access, 1));
}

static void make_chunk(struct promise *p)
{
    CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = p->app.device}};
    CU(cuMemGetAllocationGranularity(&chunk_bytes, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(cuMemCreate(&chunk, chunk_bytes, &property, 0));
    CU(cuMemAddressReserve(&written, chunk_bytes, 0, 0, 0));
    map_chunk(p);
    CU(cuMemsetD32(written, NEW, WORDS));
    CU(cuCtxSynchronize());
}

static int unmaps(struct promise *p, CUstream stream, step *wait)
{
    make_chunk(p);
    after(p, stream, work_slowly, wait);
    CU(cuMemUnmap(written, chunk_bytes));
    CU(cuCtxSynchronize());
    map_chunk(p);
    return device_are(written, NEW + 1, WORDS);
}

static int unmap_other_thread(struct promise *p)
{
    return unmaps(p, NULL, sync_default);
}

static int unmap_blocking(struct promise *p)
{
    return unmaps(p, p->a, sync_default);
}

static int unmap_after_copy(struct promise *p)
{
    return unmaps(p, p->a, copy_other_memory);
}

static int deny_other_thread(struct promise *p)
{
    CUmemAccessDesc none = access_of(p, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CUmemAccessDesc all = access_of(p, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    make_chunk(p);
    after(p, NULL, work_slowly, sync_default);
    if (cuMemSetAccess(written, chunk_bytes, &none, 1) != CUDA_SUCCESS)
        p->no = "no access to be taken away";
    CU(cuCtxSynchronize());
    CU(cuMemSetAccess(written, chunk_bytes, &all, 1));
    return device_are(written, NEW + 1, WORDS);
}

// ---- whether it is done ----

static int measures(struct promise *p, CUstream stream, step *wait)
{
    float ms = 0;
    written = p->words;
    CU(cuEventCreate(&p->first, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&p->second, CU_EVENT_DEFAULT));
    after(p, stream, work_and_record, wait);
    return cuEventElapsedTime(&ms, p->first, p->second) == CUDA_SUCCESS && ms >= SLOW_MS * 0.9f;
}

static int measure_other_thread(struct promise *p)
{
    return measures(p, NULL, sync_default);
}

static int measure_blocking(struct promise *p)
{
    return measures(p, p->a, sync_default);
}

static int measure_after_copy(struct promise *p)
{
    return measures(p, p->a, copy_other_memory);
}

static int measure_after_event(struct promise *p)
{
    return measures(p, p->a, sync_event_of_default);
}

// What it measures from is on a stream of its own, and comes last.
static int measure_from_other_stream(struct promise *p)
{
    float ms = 0;
    written = p->words;
    CU(cuEventCreate(&p->first, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&p->second, CU_EVENT_DEFAULT));
    CU(cuEventRecord(p->second, p->b));
    after(p, p->a, work_slowly, no_wait);
    CU(cuEventRecord(p->first, p->a));
    CU(cuStreamSynchronize(NULL));
    return cuEventElapsedTime(&ms, p->first, p->second) == CUDA_SUCCESS;
}

static int asks_event(struct promise *p, CUstream stream)
{
    written = p->words;
    after(p, stream, work_and_record, sync_default);
    return cuEventQuery(p->second) == CUDA_SUCCESS;
}

static int ask_event_other_thread(struct promise *p)
{
    return asks_event(p, NULL);
}

static int ask_event_blocking(struct promise *p)
{
    return asks_event(p, p->a);
}

static int ask_blocking(struct promise *p)
{
    written = p->words;
    after(p, p->a, work_slowly, sync_default);
    return cuStreamQuery(p->a) == CUDA_SUCCESS;
}

static int ask_per_thread(struct promise *p)
{
    written = p->words;
    after(p, CU_STREAM_PER_THREAD, work_slowly, sync_default);
    return cuStreamQuery(CU_STREAM_PER_THREAD) == CUDA_SUCCESS;
}

static int ask_explicit_legacy(struct promise *p)
{
    written = p->words;
    after(p, NULL, work_slowly, sync_default);
    return cuStreamQuery(CU_STREAM_LEGACY) == CUDA_SUCCESS;
}

// Nobody has waited for it: it is busy, and nobody waits for it now.
static int ask_unwaited(struct promise *p)
{
    written = p->words;
    on = p->a;
    CU(cuStreamSynchronize(NULL));
    work_and_record(p);
    return cuEventQuery(p->second) == CUDA_ERROR_NOT_READY && cuStreamQuery(p->a) == CUDA_ERROR_NOT_READY;
}

// ---- a graph's kernel tells the host ----

static CUgraphExec graph_that_fills(CUdeviceptr to)
{
    CUmodule module;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    uint32_t one = 1;
    CUDA_KERNEL_NODE_PARAMS kernel;
    memset(&kernel, 0, sizeof kernel);
    CU(cuModuleLoadData(&module, kit_ptx));
    CU(cuModuleGetFunction(&kernel.func, module, KIT_FILL)); // its name tells that it follows no pointers
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = (void *[]){&to, &one, &one};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void work_and_copy(struct promise *p)
{
    work_slowly(p);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, on));
}

static int graph_tells(struct promise *p, CUstream stream)
{
    CUgraphExec exec = graph_that_fills(p->flag_device + 64);
    CU(cuGraphLaunch(exec, NULL));
    CU(cuCtxSynchronize());
    __atomic_store_n(p->flag + 16, 0, __ATOMIC_RELEASE);
    written = p->words;
    after(p, stream, work_and_copy, no_wait);
    CU(cuGraphLaunch(exec, NULL));
    while (!__atomic_load_n(p->flag + 16, __ATOMIC_ACQUIRE))
        app_sleep_ms(1);
    return are(p->pinned, NEW + 1, WORDS);
}

static int graph_tells_other_thread(struct promise *p)
{
    return graph_tells(p, NULL);
}

static int graph_tells_blocking(struct promise *p)
{
    return graph_tells(p, p->a);
}

// ---- another process reads it ----

enum { TO_READER = 58, FROM_READER = 59 };

// In that process, which does the same case: it says that it is there, and what it reads by the handle that it gets then.
static int be_reader(void)
{
    static uint32_t words[WORDS];
    CUipcMemHandle handle;
    CUdeviceptr theirs;
    char end;
    if (write(FROM_READER, "", 1) != 1 || read(TO_READER, &handle, sizeof handle) != (ssize_t)sizeof handle ||
        cuIpcOpenMemHandle(&theirs, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS ||
        cuMemcpyDtoH(words, theirs, BYTES) != CUDA_SUCCESS)
        return 0;
    return write(FROM_READER, words, BYTES) == BYTES && read(TO_READER, &end, 1) == 0;
}

static int reads_for_others(void)
{
    return getenv("PROMISES_READER") != NULL;
}

struct reader {
    pid_t child;
    int to, from;
};

// Returns when it is there. Its line is nobody's.
static int start_reader(struct reader *reader, char *name)
{
    int to[2], from[2];
    char there;
    posix_spawn_file_actions_t actions;
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 || setenv("PROMISES_READER", "1", 1) != 0)
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], TO_READER);
    posix_spawn_file_actions_adddup2(&actions, from[1], FROM_READER);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int spawned =
        posix_spawn(&reader->child, "/proc/self/exe", &actions, NULL, (char *[]){"promises", name, NULL}, environ);
    close(to[0]);
    close(from[1]);
    *reader = (struct reader){reader->child, to[1], from[0]};
    return spawned == 0 && read(reader->from, &there, 1) == 1;
}

// What it reads; 0: nothing.
static int is_read(struct reader *reader, const CUipcMemHandle *handle, uint32_t *words)
{
    int status;
    ssize_t got = 0, more = 1;
    if (write(reader->to, handle, sizeof *handle) != (ssize_t)sizeof *handle)
        return 0;
    while (got < BYTES && more > 0) {
        more = read(reader->from, (char *)words + got, (size_t)(BYTES - got));
        got += more > 0 ? more : 0;
    }
    close(reader->to);
    waitpid(reader->child, &status, 0);
    return got == BYTES;
}

static int read_elsewhere(struct promise *p, char *name, int exported_first)
{
    static uint32_t words[WORDS];
    struct reader reader;
    CUipcMemHandle handle;
    if (reads_for_others())
        return be_reader();
    if (!start_reader(&reader, name)) {
        p->no = "no second process";
        return 0;
    }
    written = p->words;
    after(p, NULL, work_slowly, exported_first ? no_wait : sync_default);
    if (cuIpcGetMemHandle(&handle, written) != CUDA_SUCCESS)
        p->no = "no memory for other processes";
    if (exported_first)
        CU(cuStreamSynchronize(NULL));
    if (!p->no && !is_read(&reader, &handle, words))
        p->no = "another process cannot open its memory";
    return !p->no && are(words, NEW + 1, WORDS);
}

static int read_after_sync(struct promise *p)
{
    return read_elsewhere(p, "other-process-after-sync", 0);
}

static int read_before_sync(struct promise *p)
{
    return read_elsewhere(p, "other-process-before-sync", 1);
}

const struct named_case cases_debt[] = {
    {"unmap-after-sync-other-thread", unmap_other_thread, 0},
    {"unmap-after-sync-blocking", unmap_blocking, 0},
    {"unmap-after-copy", unmap_after_copy, 0},
    {"no-access-after-sync", deny_other_thread, 0},
    {"elapsed-after-sync-other-thread", measure_other_thread, 0},
    {"elapsed-after-sync-blocking", measure_blocking, 0},
    {"elapsed-after-copy", measure_after_copy, 0},
    {"elapsed-after-event", measure_after_event, 0},
    {"elapsed-from-other-stream", measure_from_other_stream, 0},
    {"event-query-after-sync-other-thread", ask_event_other_thread, 0},
    {"event-query-after-sync-blocking", ask_event_blocking, 0},
    {"query-blocking-after-sync", ask_blocking, 0},
    {"query-per-thread-after-sync", ask_per_thread, 0},
    {"query-explicit-legacy-after-sync", ask_explicit_legacy, 0},
    {"query-without-sync", ask_unwaited, 0},
    {"graph-tells-of-other-thread", graph_tells_other_thread, 0},
    {"graph-tells-of-blocking", graph_tells_blocking, 0},
    {"other-process-after-sync", read_after_sync, 0},
    {"other-process-before-sync", read_before_sync, 0},
    {0},
};
