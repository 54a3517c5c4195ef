/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done over and over again, and how far the process grows by it: growth.h. Called by sustain.c.
 *   launches     with four pointers, on the default stream and on a blocking one in turn
 *   streams      created, launched on, destroyed; the driver's handles never come again
 *   events       created, recorded on the default stream, waited for by another one, destroyed
 *   threads      started and ended, one after the other, each with streams, an event and memory of its own
 *   contexts     created, launched on their default stream and on a stream that nobody destroys, destroyed
 *   allocations  so many alive at once, each used by a launch: `growth` by them, and `again` when all were freed and came
 * anew
 */
#include "tests/bench/growth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 512, POINTERS = 4 };

static const struct setting *setting;
static struct lane lane;

unsigned long resident_kb(void)
{
    char line[256];
    unsigned long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %lu", &kb);
    if (status)
        fclose(status);
    return kb;
}

static void launch(const CUdeviceptr *at, CUstream stream)
{
    CUdeviceptr pointer[POINTERS];
    void *params[POINTERS];
    for (int i = 0; i < POINTERS; i++) {
        pointer[i] = at[i];
        params[i] = &pointer[i];
    }
    CU(cuLaunchKernel(setting->four, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void one_launch(unsigned i)
{
    launch(lane.others, i % 2 ? lane.blocking : NULL);
}

static void one_stream(unsigned i)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    launch(lane.others, stream);
    CU(cuStreamDestroy(stream));
}

static void one_event(unsigned i)
{
    CUevent event;
    (void)i;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(cuEventRecord(event, NULL));
    CU(cuStreamWaitEvent(lane.own, event, 0));
    CU(cuEventDestroy(event));
}

static void *live_shortly(void *unused)
{
    struct lane mine = make_lane(setting, &setting->doors[0]);
    launch(mine.others, NULL);
    CU(cuEventRecord(mine.event, NULL));
    drop_lane(&mine);
    return unused;
}

static void one_thread(unsigned i)
{
    pthread_t thread;
    (void)i;
    if (pthread_create(&thread, NULL, live_shortly, NULL) != 0)
        must(CUDA_ERROR_OPERATING_SYSTEM, "pthread_create");
    pthread_join(thread, NULL);
}

/* As older headers have it. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);

static void one_context(unsigned i)
{
    CUcontext context;
    CUstream stream;
    (void)i;
    CU(cuCtxCreate_v2(&context, 0, 0));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(lane.others, NULL);
    launch(lane.others, stream);
    CU(cuCtxDestroy(context));
}

static const struct repeated {
    const char *name;
    void (*once)(unsigned i);
} repeated[] = {{"launches", one_launch},
                {"streams", one_stream},
                {"events", one_event},
                {"threads", one_thread},
                {"contexts", one_context}};

static void repeat(const struct repeated *what, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        what->once(i);
        if (i % AT_ONCE == 0)
            CU(cuCtxSynchronize());
    }
    CU(cuCtxSynchronize());
}

static void use_all(CUdeviceptr *at, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CU(cuMemAlloc(&at[i], 4096));
    for (unsigned i = 0; i + POINTERS <= count; i += POINTERS)
        launch(at + i, i / POINTERS % 2 ? lane.blocking : NULL);
    CU(cuCtxSynchronize());
}

static void free_all(const CUdeviceptr *at, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CU(cuMemFree(at[i]));
}

static void allocations(unsigned count)
{
    CUdeviceptr *at = malloc(count * sizeof *at);
    memset(at, 1, count * sizeof *at); /* its own pages are no growth */
    unsigned long before = resident_kb();
    use_all(at, count);
    unsigned long alive = resident_kb();
    free_all(at, count);
    use_all(at, count);
    printf("growth %ld\nagain %ld\n", (long)(alive - before), (long)(resident_kb() - alive));
    free_all(at, count);
    free(at);
}

void growth(const struct setting *of, const char *what, unsigned count)
{
    setting = of;
    lane = make_lane(of, &of->doors[0]);
    if (strcmp(what, "allocations") == 0) {
        allocations(count);
        return;
    }
    for (unsigned i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        if (strcmp(what, repeated[i].name) != 0)
            continue;
        repeat(&repeated[i], count / 100 + 1);
        unsigned long before = resident_kb();
        repeat(&repeated[i], count);
        printf("growth %ld\n", (long)(resident_kb() - before));
        return;
    }
    must(CUDA_ERROR_INVALID_VALUE, "growth launches|streams|events|threads|contexts|allocations");
}
