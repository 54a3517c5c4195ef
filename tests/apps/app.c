// SPDX-License-Identifier: Apache-2.0
//
// The common part of the driver-API programs in this folder (app.h): context, kernels, threads,
// checksum.

#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/conformance/kernels.ptx.h"

enum { BLOCK = 128, WARM_WORDS = 64 };

void app_must(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = NULL;
    cuGetErrorName(result, &name);
    printf("WRONG %s -> %d %s (%s:%d)\n", call, (int)result, name ? name : "?", file, line);
    fflush(stdout);
    _Exit(1);
}

CUresult app_spin(const struct app *app, CUstream stream, uint64_t ns)
{
    void *params[] = {&ns};
    return cuLaunchKernel(app->spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

CUresult app_add_one(const struct app *app, CUstream stream, CUdeviceptr words, uint32_t count)
{
    void *params[] = {&words, &count};
    return cuLaunchKernel(app->add_one, (count + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL);
}

CUresult gate_launch(const struct app *app, const struct gate *gate, CUstream stream)
{
    CUdeviceptr address = gate->address;
    void *params[] = {&address};
    return cuLaunchKernel(app->hold, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static void warm_up(const struct app *app)
{
    CUdeviceptr words;
    CU(cuMemAlloc(&words, WARM_WORDS * sizeof(uint32_t)));
    CU(cuMemsetD32(words, 1, WARM_WORDS));
    struct gate open = {.address = words};
    CU(gate_launch(app, &open, NULL));
    CU(app_spin(app, NULL, 1000));
    CU(app_add_one(app, NULL, words, WARM_WORDS));
    CU(cuCtxSynchronize());
    CU(cuMemFree(words));
}

void app_start(struct app *app)
{
    CU(cuInit(0));
    CU(cuDeviceGet(&app->device, 0));
    CU(cuDevicePrimaryCtxRetain(&app->context, app->device));
    CU(cuCtxSetCurrent(app->context));
    CU(cuModuleLoadData(&app->module, ptds_test_ptx));
    CU(cuModuleGetFunction(&app->spin, app->module, "spin_ns"));
    CU(cuModuleGetFunction(&app->add_one, app->module, "add_one"));
    CU(cuModuleGetFunction(&app->hold, app->module, "gate"));
    warm_up(app);
}

void app_thread(const struct app *app)
{
    CU(cuCtxSetCurrent(app->context));
}

double app_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

void app_sleep_ms(unsigned ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

struct team {
    const struct app *app;
    pthread_barrier_t start;
    void (*body)(unsigned, void *);
    void *shared;
};

struct member {
    struct team *team;
    pthread_t thread;
    unsigned index;
};

static void *member_run(void *argument)
{
    struct member *member = argument;
    app_thread(member->team->app);
    pthread_barrier_wait(&member->team->start);
    member->team->body(member->index, member->team->shared);
    return NULL;
}

double app_threads(const struct app *app, unsigned count, void (*body)(unsigned, void *), void *shared)
{
    struct team team = {.app = app, .body = body, .shared = shared};
    struct member *members = calloc(count, sizeof *members);
    pthread_barrier_init(&team.start, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        members[i].team = &team;
        members[i].index = i;
        pthread_create(&members[i].thread, NULL, member_run, &members[i]);
    }
    pthread_barrier_wait(&team.start);
    double began = app_now_ms();
    for (unsigned i = 0; i < count; i++)
        pthread_join(members[i].thread, NULL);
    double ended = app_now_ms();
    pthread_barrier_destroy(&team.start);
    free(members);
    return ended - began;
}

unsigned app_number(int argc, char **argv, int index, unsigned fallback)
{
    return index < argc ? (unsigned)strtoul(argv[index], NULL, 10) : fallback;
}

uint64_t app_digest(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ byte[i]) * 0x100000001b3ull;
    return digest;
}

int app_finish(int right, uint64_t digest, double ms)
{
    printf("%s %016llx\n", right ? "OK" : "WRONG", (unsigned long long)digest);
    printf("time_ms %.3f\n", ms);
    return right ? 0 : 1;
}
