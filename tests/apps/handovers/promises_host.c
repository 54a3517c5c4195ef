// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about the host: whom a synchronisation, a query, an event waits for, which calls must not wait, host
// functions and callbacks. Called by the runner (promises.c).

#include <semaphore.h>
#include <string.h>

#include "tests/apps/handovers/promises.h"

// ---- whom stream 0 waits for ----

static int sync_explicit_legacy(struct promise *p)
{
    shut(p, CU_STREAM_LEGACY);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, CU_STREAM_LEGACY));
    CU(cuStreamSynchronize(NULL));
    return are(p->pinned, NEW, WORDS);
}

static int sync_destroyed(struct promise *p)
{
    shut(p, p->a);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, p->a));
    CU(cuStreamDestroy(p->a));
    CU(cuStreamSynchronize(NULL));
    return are(p->pinned, NEW, WORDS);
}

static int sync_blocking(struct promise *p)
{
    shut(p, p->a);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, p->a));
    CU(cuStreamSynchronize(NULL));
    return are(p->pinned, NEW, WORDS);
}

static int busy_then_idle(struct promise *p)
{
    int busy = cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY;
    gate_join(&p->gate);
    CU(cuCtxSynchronize());
    return busy && cuStreamQuery(NULL) == CUDA_SUCCESS;
}

static int query_explicit_legacy(struct promise *p)
{
    shut(p, CU_STREAM_LEGACY);
    return busy_then_idle(p);
}

static int query_destroyed(struct promise *p)
{
    shut(p, p->a);
    CU(cuStreamDestroy(p->a));
    return busy_then_idle(p);
}

static void shut_default(struct promise *p)
{
    shut(p, NULL);
}

static int query_other_thread(struct promise *p)
{
    elsewhere(p, shut_default);
    return busy_then_idle(p);
}

static int event_query_other_thread(struct promise *p)
{
    elsewhere(p, shut_default);
    CU(cuEventRecord(p->first, NULL));
    int busy = cuEventQuery(p->first) == CUDA_ERROR_NOT_READY;
    CU(cuEventSynchronize(p->first));
    return busy && cuEventQuery(p->first) == CUDA_SUCCESS;
}

// What the device reads, the host may overwrite after it has waited.
static void slow_read_of_pinned(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->seen, p->zeros, WORDS);
    CU(cuMemcpyHtoDAsync(p->seen, p->pinned, BYTES, NULL));
}

static int host_overwrites(struct promise *p)
{
    for (int i = 0; i < WORDS; i++)
        p->pinned[i] = NEW;
    elsewhere(p, slow_read_of_pinned);
    CU(cuStreamSynchronize(NULL));
    memset(p->pinned, 0, BYTES);
    return device_are(p->seen, NEW, WORDS);
}

static void slow_kernel(struct promise *p)
{
    CU(app_spin(&p->app, NULL, GATE_MS * 1000000ull));
}

static int event_timing(struct promise *p)
{
    CUevent begin, end;
    float ms = 0;
    CU(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CU(cuEventRecord(begin, NULL));
    elsewhere(p, slow_kernel);
    CU(cuEventRecord(end, NULL));
    CU(cuEventSynchronize(end));
    CU(cuEventElapsedTime(&ms, begin, end));
    return ms >= 25;
}

// ---- what the host has waited for is done, for a stream that waits for nobody, too ----

static void slow_default(struct promise *p)
{
    slow_add(p, NULL);
}

static int read_on_nonblocking(struct promise *p)
{
    copy(p, p->n, p->seen, p->words, WORDS);
    return device_are(p->seen, NEW + 1, WORDS);
}

static int sync_then_nonblocking(struct promise *p)
{
    elsewhere(p, slow_default);
    CU(cuStreamSynchronize(NULL));
    return read_on_nonblocking(p);
}

static int query_then_nonblocking(struct promise *p)
{
    elsewhere(p, slow_default);
    while (cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY)
        ;
    return read_on_nonblocking(p);
}

static int event_then_nonblocking(struct promise *p)
{
    elsewhere(p, slow_default);
    CU(cuEventRecord(p->first, NULL));
    CU(cuEventSynchronize(p->first));
    return read_on_nonblocking(p);
}

static int copy_then_nonblocking(struct promise *p)
{
    uint32_t word;
    elsewhere(p, slow_default);
    CU(cuMemcpyDtoH(&word, p->seen, sizeof word));
    return read_on_nonblocking(p);
}

// ---- what must not wait: the host sets the flag only when the calls have returned ----

static int finish_unwaited(struct promise *p)
{
    let_go(p);
    return device_are(p->seen, 0x07070707, WORDS);
}

static int memset_behind(struct promise *p)
{
    CU(cuMemsetD8(p->seen, 7, BYTES));
    return finish_unwaited(p);
}

static int copy_behind(struct promise *p)
{
    CU(cuMemcpyDtoD(p->seen, p->words, BYTES));
    return finish_unwaited(p);
}

static int wait_value_memset(struct promise *p)
{
    CU(cuStreamWaitValue32(NULL, p->flag_device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    return memset_behind(p);
}

static int wait_value_copy(struct promise *p)
{
    CU(cuMemsetD8(p->words, 7, BYTES));
    CU(cuStreamWaitValue32(NULL, p->flag_device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    return copy_behind(p);
}

static int gate_memset(struct promise *p)
{
    hold(p, NULL);
    return memset_behind(p);
}

static int gate_copy(struct promise *p)
{
    CU(cuMemsetD8(p->words, 7, BYTES));
    hold(p, NULL);
    return copy_behind(p);
}

// ---- host functions ----

static sem_t posted;

static void CUDA_CB post(void *unused)
{
    (void)unused;
    sem_post(&posted);
}

static void read_when_posted(struct promise *p)
{
    while (sem_wait(&posted) != 0)
        ;
    copy(p, NULL, p->seen, p->words, WORDS);
}

// The function runs when all that follows it has been issued: the woken thread's work comes after that.
static int host_function_posts(struct promise *p, CUstream stream)
{
    sem_init(&posted, 0, 0);
    hold(p, stream);
    CU(cuLaunchHostFunc(stream, post, NULL));
    slow_add(p, NULL);
    let_go(p);
    elsewhere(p, read_when_posted);
    return device_are(p->seen, NEW + 1, WORDS);
}

static int host_function_default(struct promise *p)
{
    return host_function_posts(p, NULL);
}

static int host_function_blocking(struct promise *p)
{
    return host_function_posts(p, p->a);
}

static int host_function_nonblocking(struct promise *p)
{
    return host_function_posts(p, p->n);
}

static void CUDA_CB fill_slowly(void *pinned)
{
    app_sleep_ms(GATE_MS);
    for (int i = 0; i < WORDS; i++)
        ((uint32_t *)pinned)[i] = NEW;
}

static void copy_from_pinned(struct promise *p)
{
    CU(cuMemcpyHtoDAsync(p->seen, p->pinned, BYTES, NULL));
}

static int host_function_fills(struct promise *p)
{
    CU(cuLaunchHostFunc(NULL, fill_slowly, p->pinned));
    elsewhere(p, copy_from_pinned);
    return device_are(p->seen, NEW, WORDS);
}

// It sees what another thread has copied before.
static int host_saw;

static void CUDA_CB look(void *pinned)
{
    host_saw = are(pinned, NEW, WORDS);
}

static void look_later(struct promise *p)
{
    CU(cuLaunchHostFunc(NULL, look, p->pinned));
}

static int host_function_sees(struct promise *p)
{
    shut(p, NULL);
    add(p, NULL, p->words, p->zeros, WORDS);
    CU(cuMemcpyDtoHAsync(p->pinned, p->words, BYTES, NULL));
    elsewhere(p, look_later);
    CU(cuCtxSynchronize());
    return host_saw;
}

static void CUDA_CB keep_stream(CUstream stream, CUresult status, void *place)
{
    *(CUstream *)place = status == CUDA_SUCCESS ? stream : (CUstream)-1;
}

static int callback_stream(struct promise *p)
{
    CUstream got[2] = {(CUstream)-1, (CUstream)-1};
    CU(cuStreamAddCallback(NULL, keep_stream, &got[0], 0));
    CU(cuStreamAddCallback(p->a, keep_stream, &got[1], 0));
    CU(cuCtxSynchronize());
    return got[0] == NULL && got[1] == p->a;
}

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB lock_shortly(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&host_lock);
    pthread_mutex_unlock(&host_lock);
}

static void lock_and_launch(struct promise *p)
{
    pthread_mutex_lock(&host_lock);
    CU(app_add_one(&p->app, NULL, p->words, WORDS));
    CU(cuMemsetD8Async(p->seen, 7, BYTES, NULL));
    pthread_mutex_unlock(&host_lock);
}

// Launches under a mutex that a host function before them waits for.
static int host_function_locks(struct promise *p)
{
    pthread_mutex_lock(&host_lock);
    CU(cuLaunchHostFunc(NULL, lock_shortly, NULL));
    app_sleep_ms(5);
    CU(app_add_one(&p->app, NULL, p->words, WORDS));
    pthread_mutex_unlock(&host_lock);
    CU(cuLaunchHostFunc(NULL, lock_shortly, NULL));
    elsewhere(p, lock_and_launch);
    return device_are(p->words, NEW + 2, WORDS);
}

const struct named_case cases_host[] = {
    {"sync-explicit-legacy", sync_explicit_legacy, 0},
    {"sync-destroyed-stream", sync_destroyed, 0},
    {"sync-blocking-stream", sync_blocking, 0},
    {"query-explicit-legacy", query_explicit_legacy, 0},
    {"query-destroyed-stream", query_destroyed, 0},
    {"query-other-thread", query_other_thread, 0},
    {"event-query-other-thread", event_query_other_thread, 0},
    {"host-overwrites-pinned", host_overwrites, 0},
    {"event-timing", event_timing, 0},
    {"sync-then-nonblocking", sync_then_nonblocking, 0},
    {"query-then-nonblocking", query_then_nonblocking, 0},
    {"event-then-nonblocking", event_then_nonblocking, 0},
    {"copy-then-nonblocking", copy_then_nonblocking, 0},
    {"wait-value-then-memset", wait_value_memset, 0},
    {"wait-value-then-copy", wait_value_copy, 0},
    {"kernel-then-memset", gate_memset, 0},
    {"kernel-then-copy", gate_copy, 0},
    {"host-function-posts-on-0", host_function_default, 0},
    {"host-function-posts-on-blocking", host_function_blocking, 0},
    {"host-function-posts-on-nonblocking", host_function_nonblocking, 0},
    {"host-function-fills-pinned", host_function_fills, 0},
    {"host-function-sees-pinned", host_function_sees, 0},
    {"host-function-locks", host_function_locks, 0},
    {"callback-stream", callback_stream, 0},
    {0},
};
