// SPDX-License-Identifier: Apache-2.0
//
// hangs [QUEUES [WAITERS [LINES]] | CASE]: default-stream work of many threads stands behind a kernel that waits for a
// flag, and something else of the program's sets it: a kernel on one of its non-blocking streams, on a stream that it makes
// only then, on the per-thread stream of a new thread, a graph, a copy. Or the work that waits is one thread's. Where the
// device has a queue for the release without a shim it must have one with it. One line a case, each in a process of its
// own: `waiters-W streams-S queues-Q RELEASE right|hang`. QUEUES is a value of CUDA_DEVICE_MAX_CONNECTIONS, or `own` for
// none. LINES is a file: only cases are run that are right there. Run by scripts/gpu and the tests beside it, which compare
// the lines with those of a run without a shim.

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum { WORDS = 256, MAPPED = 4096, MOST_WAITERS = 31, MOST_STREAMS = 40, HANG_MS = 1500, PROCESS_MS = 20000 };

extern char **environ;

struct world {
    struct app app;
    CUfunction mark, copy;
    CUdeviceptr words, one, flag_address, copies[MOST_WAITERS];
    uint32_t *flag; // mapped, in one allocation with the words: so work on these waits for the kernel on any lane
    CUstream streams[MOST_STREAMS];
    CUgraphExec graph;
    unsigned waiters, stream_count;
    const char *release;
    uint32_t waiting; // how many have launched
};

static struct world world;

// ---- threads ----

static void *thread_main(void *body)
{
    app_thread(&world.app);
    ((void (*)(void))body)();
    return NULL;
}

static void start(void (*body)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, (void *)body);
    pthread_detach(thread);
}

static int in_time(const volatile uint32_t *word, uint32_t wanted)
{
    double until = app_now_ms() + HANG_MS;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < wanted) {
        if (app_now_ms() > until)
            return 0;
        app_sleep_ms(1);
    }
    return 1;
}

// ---- who waits ----

static void hold(CUstream stream)
{
    void *params[] = {&world.flag_address};
    CU(cuLaunchKernel(world.app.hold, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    CU(app_add_one(&world.app, stream, world.words, WORDS));
}

static void hold_default(void)
{
    hold(NULL);
    __atomic_add_fetch(&world.waiting, 1, __ATOMIC_RELEASE);
}

static void wait_on_default(void)
{
    CU(app_add_one(&world.app, NULL, world.words, WORDS));
    __atomic_add_fetch(&world.waiting, 1, __ATOMIC_RELEASE);
    app_sleep_ms(2 * PROCESS_MS);
}

// On per-thread streams: what default-stream work there was is done, and there is none after it, which would wait.
static void use_default(void)
{
    CU(app_add_one(&world.app, NULL, world.words, WORDS));
    CU(cuStreamSynchronize(NULL));
    __atomic_add_fetch(&world.waiting, 1, __ATOMIC_RELEASE);
    app_sleep_ms(2 * PROCESS_MS);
}

// One thread's work, which has nothing to do with one another but that all waits.
static void wait_side_by_side(void)
{
    uint32_t count = WORDS;
    for (unsigned i = 0; i < world.waiters; i++) {
        void *params[] = {&world.copies[i], &world.words, &count};
        CU(cuLaunchKernel(world.copy, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    }
}

static void hold_own(void)
{
    hold(CU_STREAM_PER_THREAD);
    __atomic_add_fetch(&world.waiting, 1, __ATOMIC_RELEASE);
    app_sleep_ms(2 * PROCESS_MS);
}

// ---- who releases them ----

static void mark_on(CUstream stream)
{
    uint32_t value = 1;
    void *params[] = {&world.flag_address, &value};
    CU(cuLaunchKernel(world.mark, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void release(void)
{
    const char *how = world.release;
    CUstream last = world.streams[world.stream_count - 1], late;
    if (strcmp(how, "first") == 0)
        mark_on(world.streams[0]);
    else if (strcmp(how, "middle") == 0)
        mark_on(world.streams[world.stream_count / 2]);
    else if (strcmp(how, "last") == 0 || strcmp(how, "side-by-side") == 0)
        mark_on(last);
    else if (strcmp(how, "per-thread") == 0)
        mark_on(CU_STREAM_PER_THREAD);
    else if (strcmp(how, "graph") == 0)
        CU(cuGraphLaunch(world.graph, last));
    else if (strcmp(how, "copy") == 0)
        CU(cuMemcpyDtoHAsync(world.flag, world.one, 4, last));
    else {
        CU(cuStreamCreate(&late, CU_STREAM_NON_BLOCKING));
        mark_on(late);
    }
    app_sleep_ms(2 * PROCESS_MS);
}

// ---- a case ----

static void make_graph(void)
{
    uint32_t value = 1;
    void *params[] = {&world.flag_address, &value};
    CUgraph graph;
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = world.mark,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CU(cuGraphInstantiate(&world.graph, graph, 0));
}

// Everything has been used once, so that nothing is loaded or made while the kernel waits.
static void make(void)
{
    void *host;
    app_start(&world.app);
    CU(cuModuleGetFunction(&world.mark, world.app.module, "mark"));
    CU(cuMemHostAlloc(&host, MAPPED, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemHostGetDevicePointer(&world.flag_address, host, 0));
    world.flag = memset(host, 0, MAPPED);
    world.words = world.flag_address + MAPPED / 2;
    for (unsigned i = 0; i < world.waiters; i++)
        CU(cuMemAlloc(&world.copies[i], WORDS * 4));
    CU(cuModuleGetFunction(&world.copy, world.app.module, "copy"));
    wait_side_by_side(); // nothing is waited for yet
    CU(cuMemAlloc(&world.one, 4));
    CU(cuMemsetD32(world.one, 1, 1));
    make_graph();
    for (unsigned i = 0; i < world.stream_count; i++) {
        CU(cuStreamCreate(&world.streams[i], CU_STREAM_NON_BLOCKING));
        mark_on(world.streams[i]);
    }
    CU(cuGraphLaunch(world.graph, world.streams[0]));
    CU(cuMemcpyDtoHAsync(world.flag, world.one, 4, world.streams[0]));
    CU(cuCtxSynchronize());
    *world.flag = 0;
}

static int run(void)
{
    int own = strcmp(world.release, "per-thread") == 0;
    make();
    if (!own)
        hold_default();
    int alone = strcmp(world.release, "side-by-side") == 0;
    if (alone)
        wait_side_by_side();
    for (unsigned i = 0; i < world.waiters && !alone; i++) {
        start(own ? use_default : wait_on_default);
        if (!in_time(&world.waiting, i + 1 + !own))
            return 0;
    }
    if (own) {
        start(hold_own);
        if (!in_time(&world.waiting, world.waiters + 1))
            return 0;
    }
    app_sleep_ms(5); // the kernel runs
    start(release);
    return in_time(world.flag, 1);
}

static int run_case(const char *name)
{
    char how[32];
    if (sscanf(name, "waiters-%u streams-%u queues-%*s %31s", &world.waiters, &world.stream_count, how) != 3 ||
        world.waiters > MOST_WAITERS || !world.stream_count || world.stream_count > MOST_STREAMS)
        return 2;
    world.release = how;
    int right = run();
    printf("%s %s\n", name, right ? "right" : "hang");
    fflush(stdout);
    __atomic_store_n(world.flag, 1, __ATOMIC_RELEASE); // nothing is left running
    _Exit(0);
}

// ---- all of them ----

static int try_case(const char *name)
{
    char *arguments[] = {"hangs", (char *)name, NULL};
    pid_t child;
    int status;
    fflush(stdout);
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0)
        return 0;
    for (double until = app_now_ms() + PROCESS_MS; waitpid(child, &status, WNOHANG) == 0; app_sleep_ms(2)) {
        if (app_now_ms() < until)
            continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        printf("%s hang\n", name);
        return 1;
    }
    if (status != 0)
        printf("%s wrong\n", name);
    return status == 0;
}

// No file: all are.
static int was_right(const char *name, const char *lines)
{
    char line[128], right[128];
    FILE *file = lines ? fopen(lines, "r") : NULL;
    int found = !lines;
    snprintf(right, sizeof right, "%s right\n", name);
    while (file && !found && fgets(line, sizeof line, file))
        found = strcmp(line, right) == 0;
    if (file)
        fclose(file);
    return found;
}

static int all(const char *queues, unsigned only, const char *lines)
{
    static const unsigned waiters[] = {1, 8, 31}, streams[] = {1, 4, 12, 40};
    static const char *const releases[] = {"first",      "middle", "last", "late",
                                           "per-thread", "graph",  "copy", "side-by-side"};
    int right = 1;
    char name[96];
    if (strcmp(queues, "own") != 0)
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", queues, 1);
    for (unsigned w = 0; w < sizeof waiters / sizeof *waiters; w++)
        for (unsigned s = 0; s < sizeof streams / sizeof *streams && (!only || only == waiters[w]); s++)
            for (unsigned r = 0; r < sizeof releases / sizeof *releases; r++) {
                snprintf(name, sizeof name, "waiters-%u streams-%u queues-%s %s", waiters[w], streams[s], queues,
                         releases[r]);
                right &= !was_right(name, lines) || try_case(name);
            }
    return right;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strchr(argv[1], ' '))
        return run_case(argv[1]);
    double began = app_now_ms();
    int right = all(argc > 1 ? argv[1] : "own", app_number(argc, argv, 2, 0), argc > 3 ? argv[3] : NULL);
    return app_finish(right, APP_DIGEST, app_now_ms() - began);
}
