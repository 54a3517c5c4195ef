// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about work that legacy order lets run side by side: a kernel that polls a flag which another stream's
// kernel sets hangs where an edge covers more than was promised. And what must not run: what a wait for a value gates;
// captures with many streams and events. Called by the runner (promises.c).

#include "tests/apps/handovers/promises.h"

// ---- a poller must not be waited for ----

static int set_on(struct promise *p, CUstream stream, uint32_t expected)
{
    copy(p, stream, p->seen, p->words, WORDS);
    mark(p, stream, p->flag_device, 1);
    return device_are(p->seen, expected, WORDS);
}

static void clear_something(struct promise *p)
{
    CU(cuMemsetD32Async(p->seen, 0, WORDS, NULL));
}

static void add_on_default(struct promise *p)
{
    CU(app_add_one(&p->app, NULL, p->words, WORDS));
}

// b comes after what a did before the default operation, not after what a does now.
static int poll_blocking(struct promise *p)
{
    slow_add(p, p->a);
    elsewhere(p, clear_something);
    hold(p, p->a);
    return set_on(p, p->b, NEW + 1);
}

static int poll_behind_default_data(struct promise *p)
{
    shut(p, NULL);
    elsewhere(p, add_on_default);
    CU(app_add_one(&p->app, p->a, p->words, WORDS)); // touches the same
    clear_something(p);
    hold(p, p->a);
    return set_on(p, p->b, NEW + 2);
}

// Data that the poller read before, too.
static int poll_and_read(struct promise *p)
{
    elsewhere(p, add_on_default);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, p->a));
    hold(p, p->a);
    CU(cuMemcpyDtoDAsync(p->seen, p->words, BYTES, p->b));
    mark(p, p->b, p->flag_device, 1);
    return device_are(p->seen, NEW + 1, WORDS);
}

static int poll_nonblocking(struct promise *p)
{
    hold(p, p->n);
    return set_on(p, NULL, NEW);
}

// Stream 0 comes after the event on the non-blocking stream, not after what that does now.
static int poll_after_own_event(struct promise *p)
{
    slow_add(p, p->n);
    CU(cuEventRecord(p->first, p->n));
    hold(p, p->n);
    CU(cuStreamWaitEvent(NULL, p->first, 0));
    return set_on(p, NULL, NEW + 1);
}

static void record_on_default(struct promise *p)
{
    CU(cuEventRecord(p->first, NULL));
}

// The event is on stream 0, another thread recorded it, and this thread's default work goes on.
static int poll_after_event_on_default(struct promise *p)
{
    slow_add(p, NULL);
    elsewhere(p, record_on_default);
    hold(p, NULL);
    CU(cuStreamWaitEvent(p->n, p->first, 0));
    return set_on(p, p->n, NEW + 1);
}

// ---- two threads' per-thread streams ----

static pthread_barrier_t turn;

static void poll_on_own(struct promise *p)
{
    slow_add(p, CU_STREAM_PER_THREAD);
    clear_something(p);
    hold(p, CU_STREAM_PER_THREAD);
}

static void set_on_own(struct promise *p)
{
    copy(p, CU_STREAM_PER_THREAD, p->seen, p->words, WORDS);
    mark(p, CU_STREAM_PER_THREAD, p->flag_device, 1);
}

static void per_thread(unsigned index, void *shared)
{
    struct promise *p = shared;
    add_on_default(p);
    pthread_barrier_wait(&turn);
    if (index == 0)
        poll_on_own(p);
    pthread_barrier_wait(&turn);
    if (index == 1)
        set_on_own(p);
    pthread_barrier_wait(&turn); // both live until it is set
}

static int poll_per_thread(struct promise *p)
{
    pthread_barrier_init(&turn, NULL, 2);
    app_threads(&p->app, 2, per_thread, p);
    return device_are(p->seen, NEW + 3, WORDS);
}

// ---- what is gated ----

static void mark_pinned(struct promise *p)
{
    mark(p, NULL, p->flag_device + 64, 1);
}

static uint32_t marked(struct promise *p)
{
    return __atomic_load_n(p->flag + 16, __ATOMIC_ACQUIRE);
}

static int wait_value_gates(struct promise *p)
{
    CU(cuStreamWaitValue32(NULL, p->flag_device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    elsewhere(p, mark_pinned);
    app_sleep_ms(GATE_MS);
    uint32_t early = marked(p);
    let_go(p);
    CU(cuCtxSynchronize());
    return !early && marked(p);
}

static int event_gates(struct promise *p)
{
    hold(p, p->n);
    CU(cuEventRecord(p->first, p->n));
    CU(cuStreamWaitEvent(NULL, p->first, 0));
    elsewhere(p, mark_pinned);
    app_sleep_ms(GATE_MS);
    uint32_t early = marked(p);
    let_go(p);
    CU(cuCtxSynchronize());
    return !early && marked(p);
}

// ---- captures ----

enum { STREAMS = 70, EVENTS = 300 };

static CUevent make_event(void)
{
    CUevent event;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

// Every stream adds to a word of its own, then they come together again.
static void fork_and_join(struct promise *p, CUstream origin, CUevent start, CUstream *streams, CUevent *done)
{
    CU(cuEventRecord(start, origin));
    for (int i = 0; i < STREAMS; i++) {
        CU(cuStreamWaitEvent(streams[i], start, 0));
        CU(app_add_one(&p->app, streams[i], p->words + (CUdeviceptr)i * 4, 1));
        CU(cuEventRecord(done[i], streams[i]));
    }
    for (int i = 0; i < STREAMS; i++)
        CU(cuStreamWaitEvent(origin, done[i], 0));
}

static int launch_captured(struct promise *p, CUgraph graph)
{
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, NULL));
    elsewhere(p, clear_something);
    copy(p, NULL, p->seen, p->words, STREAMS);
    return device_are(p->seen, NEW + 1, STREAMS);
}

static int wide_capture(struct promise *p, unsigned kind)
{
    CUstream streams[STREAMS];
    CUevent done[STREAMS], more[EVENTS], start = make_event();
    CUgraph graph;
    for (int i = 0; i < STREAMS; i++) {
        CU(cuStreamCreate(&streams[i], kind));
        done[i] = make_event();
    }
    for (int i = 0; i < EVENTS; i++)
        more[i] = make_event();
    CU(cuStreamBeginCapture(p->a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fork_and_join(p, p->a, start, streams, done);
    for (int i = 0; i < EVENTS; i++)
        CU(cuEventRecord(more[i], p->a));
    return cuStreamEndCapture(p->a, &graph) == CUDA_SUCCESS && launch_captured(p, graph);
}

static int wide_capture_blocking(struct promise *p)
{
    return wide_capture(p, CU_STREAM_DEFAULT);
}

static int wide_capture_nonblocking(struct promise *p)
{
    return wide_capture(p, CU_STREAM_NON_BLOCKING);
}

const struct named_case cases_parallel[] = {
    {"poll-blocking", poll_blocking, 0},
    {"poll-behind-default-data", poll_behind_default_data, 0},
    {"poll-and-read", poll_and_read, 0},
    {"poll-nonblocking", poll_nonblocking, 0},
    {"poll-after-own-event", poll_after_own_event, 0},
    {"poll-after-event-on-0", poll_after_event_on_default, 0},
    {"poll-per-thread", poll_per_thread, 0},
    {"wait-value-gates-others", wait_value_gates, 0},
    {"event-gates-others", event_gates, 0},
    {"wide-capture-blocking", wide_capture_blocking, 0},
    {"wide-capture-nonblocking", wide_capture_nonblocking, 0},
    {0},
};
