// SPDX-License-Identifier: Apache-2.0
//
// own_allocator [THREADS] [ROUNDS]: a program whose malloc is built on a pthread mutex, as many servers' and games' is.
// Threads allocate, launch, copy and free, also under a mutex of their own; the driver, its threads, host functions and
// whatever else is in the process use the same malloc. A library that called the driver inside of pthread_mutex_lock or of
// pthread_mutex_unlock would call it inside of malloc, too, and stop here for good.

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { WORDS = 1024 };

static __attribute__((unused)) pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;

#ifndef __SANITIZE_ADDRESS__ // which has a malloc of its own

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static unsigned long taken; // under the mutex

#define EVERYBODYS __attribute__((visibility("default")))
#define LOCKED(type, call) \
    pthread_mutex_lock(&heap); \
    taken++; \
    type result = call; \
    pthread_mutex_unlock(&heap); \
    return result

EVERYBODYS void *malloc(size_t size)
{
    LOCKED(void *, __libc_malloc(size));
}

EVERYBODYS void *calloc(size_t count, size_t size)
{
    LOCKED(void *, __libc_calloc(count, size));
}

EVERYBODYS void *realloc(void *old, size_t size)
{
    LOCKED(void *, __libc_realloc(old, size));
}

EVERYBODYS void *memalign(size_t alignment, size_t size)
{
    LOCKED(void *, __libc_memalign(alignment, size));
}

EVERYBODYS void *aligned_alloc(size_t alignment, size_t size)
{
    LOCKED(void *, __libc_memalign(alignment, size));
}

EVERYBODYS int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

EVERYBODYS void free(void *block)
{
    pthread_mutex_lock(&heap);
    __libc_free(block);
    pthread_mutex_unlock(&heap);
}

#else
static unsigned long taken = 1;
#endif

struct work {
    struct app app;
    CUdeviceptr words;
    unsigned rounds;
    int wrong;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB allocate(void *unused)
{
    (void)unused;
    void *block = malloc(100);
    memset(block, 1, 100);
    free(block);
}

// Every other launch is made under a mutex that all threads take.
static void body(unsigned index, void *shared)
{
    struct work *work = shared;
    for (unsigned i = 0; i < work->rounds; i++) {
        uint32_t *block = malloc(WORDS * sizeof *block);
        int under = (i + index) % 2;
        if (under)
            pthread_mutex_lock(&turn);
        CU(app_add_one(&work->app, NULL, work->words, WORDS));
        if (under)
            pthread_mutex_unlock(&turn);
        if (i % 8 == 0)
            CU(cuLaunchHostFunc(NULL, allocate, NULL));
        if (i % 16 == 0)
            CU(cuMemcpyDtoH(block, work->words, WORDS * sizeof *block));
        free(block);
    }
}

int main(int argc, char **argv)
{
    static struct work work;
    static uint32_t words[WORDS];
    unsigned threads = app_number(argc, argv, 1, 6);
    work.rounds = app_number(argc, argv, 2, 200);
    app_start(&work.app);
    CU(cuMemAlloc(&work.words, sizeof words));
    CU(cuMemsetD32(work.words, 0, WORDS));
    double ms = app_threads(&work.app, threads, body, &work);
    CU(cuMemcpyDtoH(words, work.words, sizeof words));
    for (int i = 0; i < WORDS; i++)
        work.wrong |= words[i] != threads * work.rounds;
    return app_finish(!work.wrong && taken, app_digest(APP_DIGEST, words, sizeof words), ms);
}
