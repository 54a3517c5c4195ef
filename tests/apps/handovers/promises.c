// SPDX-License-Identifier: Apache-2.0
//
// promises [strict] [CASE]: what legacy order promises beside the hand-overs, one line a case: `case
// right|wrong|hang|skip`. Each case runs in a process of its own, so that a hang is a line. `strict` counts the cases, too,
// that a driver without a shim may get wrong. Cases are in promises_*.c. Run by scripts/gpu and the tests beside it.

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/handovers/promises.h"

enum { CASE_SECONDS = 20, BLOCK = 128 };

extern char **environ;

static const struct named_case *const groups[] = {cases_host,     cases_order,  cases_parallel, cases_memory,
                                                  cases_many,     cases_tell,   cases_kinds,    cases_events,
                                                  cases_launches, cases_graphs, cases_debt};

// ---- what the cases use ----

static void launch(CUfunction function, CUstream stream, uint32_t count, void **params)
{
    CU(cuLaunchKernel(function, (count + BLOCK - 1) / BLOCK, 1, 1, count < BLOCK ? 1 : BLOCK, 1, 1, 0, stream, params,
                      NULL));
}

void fill(struct promise *p, CUstream stream, CUdeviceptr to, uint32_t value, uint32_t count)
{
    launch(p->fill, stream, count, (void *[]){&to, &value, &count});
}

void copy(struct promise *p, CUstream stream, CUdeviceptr to, CUdeviceptr from, uint32_t count)
{
    launch(p->copy, stream, count, (void *[]){&to, &from, &count});
}

void add(struct promise *p, CUstream stream, CUdeviceptr to, CUdeviceptr constants, uint32_t count)
{
    launch(p->add, stream, count, (void *[]){&to, &to, &constants, &count});
}

void mark(struct promise *p, CUstream stream, CUdeviceptr to, uint32_t value)
{
    launch(p->mark, stream, 1, (void *[]){&to, &value});
}

void shut(struct promise *p, CUstream stream)
{
    gate_shut(&p->app, &p->gate, stream);
}

void hold(struct promise *p, CUstream stream)
{
    CUdeviceptr address = p->flag_device;
    launch(p->app.hold, stream, 1, (void *[]){&address});
}

void let_go(struct promise *p)
{
    __atomic_store_n(p->flag, 1, __ATOMIC_RELEASE);
}

void slow_add(struct promise *p, CUstream stream)
{
    uint64_t ns = GATE_MS * 1000000ull;
    uint32_t count = WORDS;
    launch(p->spin_add, stream, count, (void *[]){&p->words, &ns, &count});
}

struct errand {
    struct promise *p;
    void (*run)(struct promise *);
};

static void *run_errand(void *argument)
{
    struct errand *e = argument;
    app_thread(&e->p->app);
    e->run(e->p);
    return NULL;
}

void elsewhere(struct promise *p, void (*run)(struct promise *))
{
    struct errand e = {p, run};
    pthread_t thread;
    pthread_create(&thread, NULL, run_errand, &e);
    pthread_join(thread, NULL);
}

int are(const uint32_t *words, uint32_t value, int count)
{
    for (int i = 0; i < count; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

int device_are(CUdeviceptr words, uint32_t value, int count)
{
    static uint32_t host[WORDS];
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(host, words, (size_t)count * 4));
    return are(host, value, count);
}

// ---- one case ----

static void make_memory(struct promise *p)
{
    void *host;
    CU(cuMemAlloc(&p->words, BYTES));
    CU(cuMemAlloc(&p->seen, BYTES));
    CU(cuMemsetD32(p->words, NEW, WORDS));
    CU(cuMemsetD32(p->seen, 0, WORDS));
    CU(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    p->pinned = memset(host, 0, BYTES);
    CU(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    p->flag = memset(host, 0, 4096);
    CU(cuMemHostGetDevicePointer(&p->flag_device, host, 0));
}

static void make_gate(struct promise *p)
{
    void *host;
    CU(cuMemHostAlloc(&host, 3 * BYTES, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemHostGetDevicePointer(&p->gate.address, host, 0));
    p->gate.flag = memset(host, 0, 3 * BYTES);
    p->gate.ms = GATE_MS;
    for (int i = 0; i < WORDS; i++)
        p->gate.flag[WORDS + i] = 1;
    p->ones = p->gate.address + BYTES;
    p->zeros = p->gate.address + 2 * BYTES;
}

static void make_kernels(struct promise *p)
{
    CU(cuModuleGetFunction(&p->fill, p->app.module, "fill"));
    CU(cuModuleGetFunction(&p->copy, p->app.module, "copy"));
    CU(cuModuleGetFunction(&p->add, p->app.module, "add"));
    CU(cuModuleGetFunction(&p->mark, p->app.module, "mark"));
    CU(cuModuleGetFunction(&p->spin_add, p->app.module, "spin_add"));
    CU(cuModuleGetFunction(&p->empty, p->app.module, "empty"));
    fill(p, NULL, p->seen, 0, WORDS); // once each, so that nothing is loaded lazily later
    copy(p, NULL, p->seen, p->seen, WORDS);
    add(p, NULL, p->seen, p->zeros, WORDS);
    mark(p, NULL, p->flag_device, 0);
    launch(p->spin_add, NULL, 1, (void *[]){&p->seen, &(uint64_t){0}, &(uint32_t){0}});
    CU(cuLaunchKernel(p->empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void make(struct promise *p)
{
    CUstream *const streams[] = {&p->a, &p->b, &p->n, &p->m};
    app_start(&p->app);
    make_gate(p);
    make_memory(p);
    make_kernels(p);
    for (int i = 0; i < 4; i++)
        CU(cuStreamCreate(streams[i], i < 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&p->first, CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&p->second, CU_EVENT_DISABLE_TIMING));
    CU(cuCtxSynchronize());
}

static int run_case(const struct named_case *c, int strict)
{
    static struct promise p;
    make(&p);
    int right = c->run(&p);
    if (p.no)
        printf("%s skip %s\n", c->name, p.no);
    else if (!right && c->driver && !strict)
        printf("%s driver\n", c->name);
    else
        printf("%s %s\n", c->name, right ? "right" : "wrong");
    fflush(stdout);
    _Exit(p.no || right || (c->driver && !strict) ? 0 : 1); // nothing waits for what a wrong case left behind
}

// ---- all of them ----

// A wait status, or -1 where the child had to be killed.
static int wait_for(pid_t child)
{
    double until = app_now_ms() + CASE_SECONDS * 1e3;
    int status;
    while (app_now_ms() < until) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        app_sleep_ms(2);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static int try_case(const struct named_case *c, int strict)
{
    char *arguments[] = {"promises", (char *)c->name, strict ? "strict" : NULL, NULL};
    pid_t child;
    fflush(stdout);
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0) {
        printf("%s wrong\n", c->name);
        return 0;
    }
    int status = wait_for(child);
    if (status == -1)
        printf("%s hang\n", c->name);
    else if (WIFSIGNALED(status))
        printf("%s: signal %d\n%s wrong\n", c->name, WTERMSIG(status), c->name);
    return status == 0;
}

int main(int argc, char **argv)
{
    const char *wanted = NULL;
    int strict = 0, right = 1;
    unsigned count = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "strict") == 0)
            strict = 1;
        else
            wanted = argv[i];
    double began = app_now_ms();
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (const struct named_case *c = groups[g]; c->name; c++) {
            if (wanted && strcmp(c->name, wanted) == 0)
                return run_case(c, strict);
            right &= wanted || try_case(c, strict);
            count++;
        }
    if (wanted)
        printf("no case %s\n", wanted);
    return app_finish(right && !wanted, app_digest(APP_DIGEST, &count, sizeof count), app_now_ms() - began);
}
