/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared part of the conformance programs; see conf.h. Must never leave a gate closed for good: a device-wide wait
 * behind one would hang the program, so a second thread opens it after a bounded time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/conformance/conf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/conformance/kernels.ptx.h"

#define WORDS 8192
#define WORD_STRIDE 16 /* a cache line each */
#define GRACE_MS 60    /* CONF_GRACE_MS */

struct conf conf;
static uint32_t *words;
static int next_word;
static long grace_ms = GRACE_MS;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nap_us(long us)
{
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

void conf_must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, (int)result);
    exit(2);
}

void conf_say(const char *group, const char *name, const char *result)
{
    printf("%s %s %s\n", group, name, result);
    fflush(stdout);
}

void conf_say_code(const char *group, const char *name, CUresult code)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)code);
    conf_say(group, name, text);
}

void conf_say_bool(const char *group, const char *name, bool yes)
{
    conf_say(group, name, yes ? "yes" : "no");
}

/* ---- words, gates, marks ---- */

uint32_t *conf_word(void)
{
    if (next_word == WORDS) {
        fprintf(stderr, "out of words\n");
        exit(2);
    }
    uint32_t *word = &words[next_word++ * WORD_STRIDE];
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    return word;
}

uint32_t conf_read(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
void conf_open(uint32_t *gate)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

static void launch(CUfunction f, CUstream stream, bool twin, void **parameters)
{
    if (twin)
        MUST(cuLaunchKernel_ptsz(f, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    else
        MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

void conf_gate_at(uint32_t *word, CUstream stream, bool twin)
{
    void *parameters[] = {&word};
    launch(conf.gate, stream, twin, parameters);
}

uint32_t *conf_gate(CUstream stream, bool twin)
{
    uint32_t *word = conf_word();
    conf_gate_at(word, stream, twin);
    return word;
}

void conf_mark(uint32_t *word, CUstream stream, bool twin)
{
    uint32_t one = 1;
    void *parameters[] = {&word, &one};
    launch(conf.mark, stream, twin, parameters);
}

static bool set_before(const uint32_t *word, uint64_t deadline)
{
    while (!conf_read(word)) {
        if (now_ns() > deadline)
            return false;
        nap_us(100);
    }
    return true;
}

/* A kernel on a stream of its own shows how long one takes at the moment; what is not held back gets five times that. */
bool conf_reached(const uint32_t *word)
{
    uint64_t start = now_ns();
    uint32_t *control = conf_word();
    conf_mark(control, conf.nonblocking2, false);
    set_before(control, start + 10000000000u);
    uint64_t took = now_ns() - start, grace = (uint64_t)grace_ms * 1000000u;
    return set_before(word, now_ns() + (took * 5 > grace ? took * 5 : grace));
}

/* ---- the other thread ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void (*job)(void *);
static void *job_argument;

static void *other_thread(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(conf.ctx));
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!job)
            pthread_cond_wait(&changed, &lock);
        job(job_argument);
        job = NULL;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

void conf_elsewhere(void (*fn)(void *), void *argument)
{
    static bool started;
    pthread_t thread;
    pthread_mutex_lock(&lock);
    if (!started && pthread_create(&thread, NULL, other_thread, NULL) == 0)
        pthread_detach(thread);
    started = true;
    job_argument = argument;
    job = fn;
    pthread_cond_broadcast(&changed);
    while (job)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- does a call block? ---- */

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    bool has_returned, opened;
    uint32_t *gate;
};

static void *open_in_time(void *argument)
{
    struct watch *w = argument;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += grace_ms * 5 / 3 * 1000000; /* 100 ms, unless somebody asks for more */
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&w->lock);
    while (!w->has_returned && pthread_cond_timedwait(&w->returned, &w->lock, &until) == 0) {
    }
    w->opened = !w->has_returned;
    conf_open(w->gate);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool conf_blocks(uint32_t *gate, CUresult (*call)(void *), void *argument, CUresult *code)
{
    struct watch w = {.lock = PTHREAD_MUTEX_INITIALIZER, .gate = gate};
    pthread_condattr_t monotonic;
    pthread_t thread;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w.returned, &monotonic);
    if (pthread_create(&thread, NULL, open_in_time, &w) != 0)
        exit(2);
    *code = call(argument);
    pthread_mutex_lock(&w.lock);
    w.has_returned = true;
    pthread_cond_signal(&w.returned);
    pthread_mutex_unlock(&w.lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&w.returned);
    pthread_condattr_destroy(&monotonic);
    return w.opened;
}

/* ---- begin and end ---- */

CUfunction conf_kernel(const char *name)
{
    CUfunction f;
    MUST(cuModuleGetFunction(&f, conf.module, name));
    return f;
}

/* Each kernel once: loading one lazily later would be a wait of its own. */
static void warm_up(void)
{
    uint32_t *p = conf_word(), zero = 0;
    void *one_pointer[] = {&p, &zero, &zero};
    conf_open(p);
    launch(conf.gate, NULL, false, one_pointer);
    launch(conf.mark, NULL, false, one_pointer);
    launch(conf.fill, NULL, false, one_pointer);
    launch(conf.add_one, NULL, false, one_pointer);
    launch(conf.empty, NULL, false, NULL);
    MUST(cuCtxSynchronize());
}

void conf_begin(void)
{
    const char *grace = getenv("CONF_GRACE_MS");
    CUdevice device;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* fewer would let streams wait for each other by accident */
    if (grace && *grace)
        grace_ms = strtol(grace, NULL, 10);
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&conf.ctx, device));
    MUST(cuCtxSetCurrent(conf.ctx));
    MUST(cuModuleLoadData(&conf.module, ptds_test_ptx));
    conf.gate = conf_kernel("gate");
    conf.mark = conf_kernel("mark");
    conf.fill = conf_kernel("fill");
    conf.add_one = conf_kernel("add_one");
    conf.empty = conf_kernel("empty");
    MUST(cuMemHostAlloc((void **)&words, WORDS * WORD_STRIDE * sizeof *words,
                        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuStreamCreate(&conf.blocking, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&conf.blocking2, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&conf.nonblocking, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&conf.nonblocking2, CU_STREAM_NON_BLOCKING));
    warm_up();
}

int conf_end(void)
{
    MUST(cuCtxSynchronize());
    return fflush(stdout) == 0 ? 0 : 2;
}
