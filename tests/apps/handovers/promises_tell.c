// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about who is told something past the driver's calls: a host that polls memory which a kernel writes, a
// signal handler that interrupts driver calls, callbacks beside a capture, calls of an object that PTDS_EXCLUDE names
// (section_handovers.sh). Called by the runner (promises.c).

#include <semaphore.h>
#include <signal.h>

#include "tests/apps/handovers/excluded.h"
#include "tests/apps/handovers/promises.h"

// ---- a kernel tells the host ----

static void slow_copy_to_pinned(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->zeros, WORDS);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, NULL));
}

static int told_by_kernel(struct promise *p)
{
    mark(p, NULL, p->flag_device + 64, 1);
    while (!__atomic_load_n(p->flag + 16, __ATOMIC_ACQUIRE))
        app_sleep_ms(1);
    return are(p->pinned, NEW, WORDS);
}

static int kernel_tells_other_thread(struct promise *p)
{
    elsewhere(p, slow_copy_to_pinned);
    return told_by_kernel(p);
}

static int kernel_tells_of_blocking(struct promise *p)
{
    shut(p, p->a);
    add(p, p->a, p->words, p->zeros, WORDS);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, p->a));
    return told_by_kernel(p);
}

// ---- a handler that posts, in a thread that is inside of driver calls most of the time ----

enum { SIGNALS = 100 };

static sem_t posted;
static pthread_t caller;
static int stop;

static void post(int number)
{
    (void)number;
    sem_post(&posted);
}

static void *call_always(void *argument)
{
    struct promise *p = argument;
    app_thread(&p->app);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        CU(cuMemsetD8Async(p->seen, 7, BYTES, NULL));
        CU(cuStreamSynchronize(NULL));
    }
    return NULL;
}

static int handler_posts(struct promise *p)
{
    struct sigaction action = {.sa_handler = post};
    sem_init(&posted, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&caller, NULL, call_always, p);
    for (int i = 0; i < SIGNALS; i++) {
        CU(app_add_one(&p->app, NULL, p->words, WORDS));
        pthread_kill(caller, SIGUSR1);
        while (sem_wait(&posted) != 0)
            ;
        CU(cuMemsetD8Async(p->seen, 1, BYTES, NULL)); // the same memory, so their lanes wait for each other
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(caller, NULL);
    return device_are(p->words, NEW + SIGNALS, WORDS);
}

// ---- a callback while a capture is open that legacy work may go on beside ----

static void CUDA_CB keep_stream(CUstream stream, CUresult status, void *place)
{
    *(CUstream *)place = status == CUDA_SUCCESS ? stream : (CUstream)-1;
}

static int callback_beside_capture(struct promise *p)
{
    CUstream got = (CUstream)-1;
    CUgraph graph;
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuStreamAddCallback(NULL, keep_stream, &got, 0));
    CU(cuStreamSynchronize(NULL));
    CU(cuStreamEndCapture(p->n, &graph));
    return got == NULL;
}

// ---- work of an object whose calls stay on the legacy stream ----

static int sync_excluded(struct promise *p)
{
    slow_add(p, NULL);
    excluded_copy(p->pinned, p->words, BYTES);
    CU(cuStreamSynchronize(NULL));
    return are(p->pinned, NEW + 1, WORDS);
}

static void copy_excluded(struct promise *p)
{
    excluded_copy(p->pinned, p->words, BYTES);
}

static int event_excluded(struct promise *p)
{
    slow_add(p, p->a);
    elsewhere(p, copy_excluded);
    CU(cuEventRecord(p->first, NULL));
    CU(cuEventSynchronize(p->first));
    return are(p->pinned, NEW + 1, WORDS);
}

static int excluded_then_default(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->ones, WORDS);
    excluded_copy(p->pinned, p->words, BYTES);
    CU(cuMemsetD32Async(p->words, OTHER, WORDS, NULL));
    CU(cuCtxSynchronize());
    return are(p->pinned, NEW + 1, WORDS) && device_are(p->words, OTHER, WORDS);
}

const struct named_case cases_tell[] = {
    {"kernel-tells-of-other-thread", kernel_tells_other_thread, 0},
    {"kernel-tells-of-blocking", kernel_tells_of_blocking, 0},
    {"handler-posts", handler_posts, 0},
    {"callback-beside-capture", callback_beside_capture, 0},
    {"excluded-then-sync", sync_excluded, 0},
    {"excluded-then-event", event_excluded, 0},
    {"excluded-then-overwrite", excluded_then_default, 0},
    {0},
};
