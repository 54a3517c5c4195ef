/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared part of the kit's program (kit.h), and its main: `kit CASE` runs one case and says OK or WRONG. Must never
 * leave a gate closed for good: a case that gets stuck is opened by force after a while, and is then wrong.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/kit/kit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kit/kernels.ptx.h"

enum { GATES = 64, STRIDE = 16, SOON_MS = 50, STUCK_MS = 20000, BLOCK = 64 };

static struct {
    struct app app;
    CUfunction gate, fill, add_one, copy, empty;
    CUstream setup;
    uint32_t *gates, *landing; /* pinned: STRIDE words a gate; where read-backs land */
    unsigned next_gate;
    unsigned turn;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t digest;
    bool wrong;
} kit = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .digest = APP_DIGEST};

/* ---- streams and memory ---- */

CUstream kit_stream(unsigned flags)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, flags));
    return stream;
}

CUdeviceptr kit_words(uint32_t value)
{
    CUdeviceptr p;
    CU(cuMemAlloc(&p, KIT_BYTES));
    CU(cuMemsetD32Async(p, value, KIT_WORDS, kit.setup));
    CU(cuStreamSynchronize(kit.setup));
    return p;
}

uint32_t *kit_pinned(uint32_t value)
{
    void *p;
    CU(cuMemHostAlloc(&p, KIT_BYTES, CU_MEMHOSTALLOC_PORTABLE));
    for (unsigned i = 0; i < KIT_WORDS; i++)
        ((uint32_t *)p)[i] = value;
    return p;
}

/* ---- work ---- */

static CUresult launch(CUfunction f, CUstream stream, void **parameters)
{
    return cuLaunchKernel(f, KIT_WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, parameters, NULL);
}

void kit_fill(CUstream stream, CUdeviceptr p, uint32_t value)
{
    uint32_t words = KIT_WORDS;
    void *parameters[] = {&p, &value, &words};
    CU(launch(kit.fill, stream, parameters));
}

void kit_add_one(CUstream stream, CUdeviceptr p)
{
    uint32_t words = KIT_WORDS;
    void *parameters[] = {&p, &words};
    CU(launch(kit.add_one, stream, parameters));
}

void kit_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from)
{
    uint32_t words = KIT_WORDS;
    void *parameters[] = {&to, &from, &words};
    CU(launch(kit.copy, stream, parameters));
}

CUresult kit_empty(CUstream stream)
{
    return cuLaunchKernel(kit.empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

CUfunction kit_add_one_function(void)
{
    return kit.add_one;
}

/* ---- gates ---- */

static void launch_gate(CUstream stream, uint32_t *flag)
{
    CUdeviceptr address;
    CU(cuMemHostGetDevicePointer(&address, flag, 0));
    void *parameters[] = {&address};
    CU(cuLaunchKernel(kit.gate, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

uint32_t *kit_gate(CUstream stream)
{
    unsigned at = __atomic_fetch_add(&kit.next_gate, 1, __ATOMIC_RELAXED);
    if (at >= GATES) {
        fprintf(stderr, "kit: out of gates\n");
        exit(2);
    }
    uint32_t *flag = &kit.gates[(size_t)at * STRIDE];
    launch_gate(stream, flag);
    return flag;
}

void kit_open(uint32_t *gate)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

bool kit_is_open(const uint32_t *gate)
{
    return __atomic_load_n(gate, __ATOMIC_ACQUIRE) != 0;
}

static void detached(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0) {
        fprintf(stderr, "kit: no thread\n");
        exit(2);
    }
    pthread_detach(thread);
}

static void *open_later(void *gate)
{
    app_sleep_ms(SOON_MS);
    kit_open(gate);
    return NULL;
}

void kit_open_soon(uint32_t *gate)
{
    detached(open_later, gate);
}

/* Wrong before open: whoever was stuck must not say OK. */
static void *open_when_stuck(void *unused)
{
    app_sleep_ms(STUCK_MS);
    __atomic_store_n(&kit.wrong, true, __ATOMIC_RELEASE);
    fprintf(stderr, "kit: stuck; every gate is opened\n");
    for (unsigned i = 0; i < GATES; i++)
        kit_open(&kit.gates[(size_t)i * STRIDE]);
    return unused;
}

/* ---- threads ---- */

void kit_threads(unsigned count, void (*body)(unsigned, void *))
{
    kit.turn = 0;
    app_threads(&kit.app, count, body, NULL);
}

void kit_turn(unsigned turn)
{
    pthread_mutex_lock(&kit.lock);
    while (kit.turn != turn)
        pthread_cond_wait(&kit.changed, &kit.lock);
    pthread_mutex_unlock(&kit.lock);
}

void kit_next(void)
{
    pthread_mutex_lock(&kit.lock);
    kit.turn++;
    pthread_cond_broadcast(&kit.changed);
    pthread_mutex_unlock(&kit.lock);
}

/* ---- results ---- */

void kit_all_done(void)
{
    CU(cuCtxSynchronize());
}

static void read_back(CUdeviceptr p)
{
    CU(cuMemcpyDtoHAsync(kit.landing, p, KIT_BYTES, kit.setup));
    CU(cuStreamSynchronize(kit.setup));
}

void kit_check(const char *what, CUdeviceptr p, uint32_t value)
{
    bool right = true;
    read_back(p);
    for (unsigned i = 0; i < KIT_WORDS; i++)
        right = right && kit.landing[i] == value;
    kit.digest = app_digest(kit.digest, kit.landing, KIT_BYTES);
    if (!right)
        printf("%s: the last word is %u, not %u\n", what, kit.landing[KIT_WORDS - 1], value);
    kit_is(what, right);
}

void kit_is(const char *what, bool right)
{
    if (right)
        return;
    printf("%s: wrong\n", what);
    __atomic_store_n(&kit.wrong, true, __ATOMIC_RELEASE);
}

/* ---- the library, which lies beside the program ---- */

const struct kit_library *kit_library(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "libkit_library.so");
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    void *handle = NULL;
    if (slash != NULL) {
        strcpy(slash + 1, "libkit_library.so");
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    const struct kit_library *library = handle != NULL ? dlsym(handle, "kit_library_functions") : NULL;
    if (library == NULL) {
        fprintf(stderr, "kit: %s\n", dlerror());
        exit(2);
    }
    return library;
}

/* ---- begin ---- */

static CUfunction function(const char *name)
{
    CUfunction f;
    CU(cuModuleGetFunction(&f, kit.app.module, name));
    return f;
}

/* Each kernel once, so that none is loaded when its turn comes. */
static void warm_up(void)
{
    uint32_t *open = &kit.gates[(size_t)kit.next_gate++ * STRIDE];
    CUdeviceptr p = kit_words(0);
    kit_open(open);
    launch_gate(kit.setup, open);
    kit_fill(kit.setup, p, 0);
    kit_add_one(kit.setup, p);
    kit_copy(kit.setup, p, p);
    CU(kit_empty(kit.setup));
    CU(cuStreamSynchronize(kit.setup));
    CU(cuMemFree(p));
}

static void begin(void)
{
    void *flags;
    CU(cuInit(0));
    CU(cuDeviceGet(&kit.app.device, 0));
    CU(cuDevicePrimaryCtxRetain(&kit.app.context, kit.app.device));
    CU(cuCtxSetCurrent(kit.app.context));
    CU(cuModuleLoadData(&kit.app.module, kit_ptx));
    kit.gate = function(KIT_GATE);
    kit.fill = function(KIT_FILL);
    kit.add_one = function(KIT_ADD_ONE);
    kit.copy = function(KIT_COPY);
    kit.empty = function(KIT_EMPTY);
    kit.setup = kit_stream(CU_STREAM_NON_BLOCKING);
    CU(cuMemHostAlloc(&flags, GATES * STRIDE * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    memset(flags, 0, GATES * STRIDE * sizeof(uint32_t));
    kit.gates = flags;
    kit.landing = kit_pinned(0);
    warm_up();
    detached(open_when_stuck, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define KIT_CASE(name) {#name, kit_##name},
#include "tests/kit/cases.def"
#undef KIT_CASE
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc != 2 || strcmp(argv[1], cases[i].name) != 0)
            continue;
        begin();
        double started = app_now_ms();
        cases[i].run();
        return app_finish(!__atomic_load_n(&kit.wrong, __ATOMIC_ACQUIRE), kit.digest, app_now_ms() - started);
    }
    fprintf(stderr, "usage: kit CASE, one of:");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
