// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about many of something: contexts, threads in all of them, streams that live at once. Called by the
// runner (promises.c).

#include "tests/apps/handovers/promises.h"
#include "tests/conformance/kernels.ptx.h"

/* As older headers have it. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);

enum { CONTEXTS = 8, THREADS = 9, MANY = 40, CROWD = 300, ROUNDS = 10 };

static struct app contexts[CONTEXTS];
static CUdeviceptr context_words[CONTEXTS];

// One a device where there are so many, else several share one.
static void make_contexts(struct promise *p)
{
    int devices = 0;
    CU(cuDeviceGetCount(&devices));
    for (int i = 0; i < CONTEXTS; i++) {
        struct app *app = &contexts[i];
        CU(cuDeviceGet(&app->device, i % devices));
        CU(cuCtxCreate_v2(&app->context, 0, app->device));
        CU(cuModuleLoadData(&app->module, ptds_test_ptx));
        CU(cuModuleGetFunction(&app->add_one, app->module, "add_one"));
        CU(cuMemAlloc(&context_words[i], BYTES));
        CU(cuMemsetD32(context_words[i], NEW, WORDS));
        CU(cuCtxSynchronize());
    }
    CU(cuCtxSetCurrent(p->app.context));
}

static void add_everywhere(unsigned index, void *unused)
{
    (void)index;
    (void)unused;
    for (int i = 0; i < ROUNDS * CONTEXTS; i++) {
        const struct app *app = &contexts[i % CONTEXTS];
        CU(cuCtxSetCurrent(app->context));
        CU(app_add_one(app, NULL, context_words[i % CONTEXTS], WORDS));
    }
}

static int in_contexts(struct promise *p, unsigned threads)
{
    int right = 1;
    make_contexts(p);
    app_threads(&p->app, threads, add_everywhere, NULL);
    for (int i = 0; i < CONTEXTS; i++) {
        CU(cuCtxSetCurrent(contexts[i].context));
        right &= device_are(context_words[i], NEW + threads * ROUNDS, WORDS);
    }
    CU(cuCtxSetCurrent(p->app.context));
    return right;
}

static int threads_in_contexts(struct promise *p)
{
    return in_contexts(p, THREADS);
}

static int many_threads_in_contexts(struct promise *p)
{
    return in_contexts(p, MANY);
}

// ---- an event of another context's default stream, on the streams that each context has of its own ----

static void add_slowly(struct promise *p)
{
    slow_add(p, NULL);
}

static void record_on_default(struct promise *p)
{
    CU(cuEventRecord(p->first, NULL));
}

// Another context's stream waits for the event and copies what came before it.
static int in_other_context(struct promise *p, CUstream stream)
{
    CUcontext other;
    CUdeviceptr seen;
    CU(cuCtxCreate_v2(&other, 0, p->app.device));
    CU(cuMemAlloc(&seen, BYTES));
    CU(cuCtxSetCurrent(p->app.context));
    elsewhere(p, add_slowly);
    elsewhere(p, record_on_default);
    CU(cuCtxSetCurrent(other));
    CU(cuStreamWaitEvent(stream, p->first, 0));
    CU(cuMemcpyPeerAsync(seen, other, p->words, p->app.context, BYTES, stream));
    int right = device_are(seen, NEW + 1, WORDS);
    CU(cuCtxSetCurrent(p->app.context));
    return right;
}

static int legacy_of_other_context(struct promise *p)
{
    return in_other_context(p, CU_STREAM_LEGACY);
}

static int per_thread_of_other_context(struct promise *p)
{
    return in_other_context(p, CU_STREAM_PER_THREAD);
}

static int default_of_other_context(struct promise *p)
{
    return in_other_context(p, NULL);
}

// ---- with the lanes of so many contexts there still is order for the program's own streams ----

static void read_on_default(struct promise *p)
{
    copy(p, NULL, p->seen, p->words, WORDS);
}

static int blocking_beside_contexts(struct promise *p)
{
    int right = in_contexts(p, MANY);
    slow_add(p, p->a);
    elsewhere(p, read_on_default);
    return right && device_are(p->seen, NEW + 1, WORDS);
}

static int per_thread_beside_contexts(struct promise *p)
{
    int right = in_contexts(p, MANY);
    slow_add(p, NULL);
    copy(p, CU_STREAM_PER_THREAD, p->seen, p->words, WORDS);
    return right && device_are(p->seen, NEW + 1, WORDS);
}

static int legacy_beside_contexts(struct promise *p)
{
    int right = in_contexts(p, MANY);
    slow_add(p, CU_STREAM_LEGACY);
    elsewhere(p, read_on_default);
    return right && device_are(p->seen, NEW + 1, WORDS);
}

// ---- more threads at once than there are lanes, each with work on its own 0x2 ----

static pthread_barrier_t crowd;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static unsigned come;

static void work_in_crowd(unsigned index, void *shared)
{
    struct promise *p = shared;
    (void)index;
    pthread_mutex_lock(&queue);
    CU(app_add_one(&p->app, CU_STREAM_PER_THREAD, p->seen, 1));
    int last = ++come == CROWD;
    pthread_mutex_unlock(&queue);
    pthread_barrier_wait(&crowd);
    if (last)
        slow_add(p, CU_STREAM_PER_THREAD);
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
}

static void read_after_crowd(struct promise *p)
{
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
    copy(p, NULL, p->seen, p->words, WORDS);
    pthread_barrier_wait(&crowd);
}

static void *run_crowd(void *p)
{
    app_threads(&((struct promise *)p)->app, CROWD, work_in_crowd, p);
    return NULL;
}

static void in_crowd(struct promise *p)
{
    pthread_t runner;
    come = 0;
    pthread_barrier_init(&crowd, NULL, CROWD + 1);
    pthread_create(&runner, NULL, run_crowd, p);
    read_after_crowd(p);
    pthread_join(runner, NULL);
}

static int per_thread_crowd(struct promise *p)
{
    in_crowd(p);
    return device_are(p->seen, NEW + 1, WORDS);
}

// A wait for the context would fail now, and end the capture.
static int per_thread_crowd_in_capture(struct promise *p)
{
    CUgraph graph = NULL;
    CU(app_add_one(&p->app, p->n, p->zeros, 1)); // so that its stream has a lane
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    in_crowd(p);
    CU(cuStreamEndCapture(p->n, &graph));
    CU(cuGraphDestroy(graph));
    return device_are(p->seen, NEW + 1, WORDS);
}

const struct named_case cases_many[] = {
    {"threads-in-contexts", threads_in_contexts, 0},
    {"many-threads-in-contexts", many_threads_in_contexts, 0},
    {"event-to-legacy-of-other-context", legacy_of_other_context, 0},
    {"event-to-per-thread-of-other-context", per_thread_of_other_context, 0},
    {"event-to-0-of-other-context", default_of_other_context, 0},
    {"blocking-beside-contexts", blocking_beside_contexts, 0},
    {"per-thread-beside-contexts", per_thread_beside_contexts, 0},
    {"legacy-beside-contexts", legacy_beside_contexts, 0},
    {"per-thread-crowd", per_thread_crowd, 0},
    {"per-thread-crowd-in-capture", per_thread_crowd_in_capture, 0},
    {0},
};
