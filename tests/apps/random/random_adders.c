// SPDX-License-Identifier: Apache-2.0
//
// random_adders [first seed 1] [seeds 20] [steps 40]: 2 to 8 threads that do not take turns. On the default stream they add
// to the same words, which legacy order lets no two do at a time, and they add up what they made on streams of their own;
// beside that each works on memory of its own and looks at it. The sums and the looks must be right. Prints "seed N digest"
// a seed, the same every time. RANDOM_TURNS_US (40 here): the longest spin. Run by scripts/gpu and random_test.sh.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum {
    WORDS = 1024,
    BYTES = WORDS * 4,
    MEMORIES = 3,
    THREADS_MOST = 8,
    STEPS = 40,
    BLOCK = 128,
    SPIN_US = 40,
    HANG_S = 20
};

// A thread's own: memory to add up from, memory to work on and its copy, all behind one another in one allocation.
struct own {
    uint64_t random;
    CUstream stream; /* blocking */
    CUevent event;
    CUdeviceptr addend, chain, copied;
    uint32_t *pinned;
    uint32_t added[WORDS]; /* to the shared words */
    unsigned index, wrong_at;
};

static struct {
    struct app app;
    CUfunction fill, add;
    CUdeviceptr shared;
    struct own own[THREADS_MOST];
    unsigned steps, most_us;
    unsigned seed, progress; /* for the watchdog */
} a;

static unsigned any(struct own *own, unsigned below)
{
    own->random = own->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(own->random >> 33) % below;
}

static CUstream default_stream(struct own *own)
{
    return any(own, 5) ? NULL : CU_STREAM_LEGACY;
}

static CUstream some_stream(struct own *own)
{
    return any(own, 3) ? default_stream(own) : any(own, 2) ? own->stream : CU_STREAM_PER_THREAD;
}

static void maybe_spin(struct own *own, CUstream stream)
{
    if (any(own, 3) == 0)
        CU(app_spin(&a.app, stream, any(own, a.most_us + 1) * 1000ull));
}

static void fill(CUdeviceptr words, uint32_t value, uint32_t count, CUstream stream)
{
    void *params[] = {&words, &value, &count};
    CU(cuLaunchKernel(a.fill, (count + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void add_shared(CUdeviceptr at, CUdeviceptr more, uint32_t count, CUstream stream)
{
    void *params[] = {&at, &at, &more, &count};
    CU(cuLaunchKernel(a.add, (count + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void note(struct own *own, unsigned first, unsigned count, uint32_t value)
{
    for (unsigned i = 0; i < count; i++)
        own->added[first + i] += value;
}

static void add_one(struct own *own)
{
    unsigned first = any(own, WORDS), count = 1 + any(own, WORDS - first);
    CUstream stream = default_stream(own);
    maybe_spin(own, stream);
    CU(app_add_one(&a.app, stream, a.shared + first * 4u, count));
    note(own, first, count, 1);
}

// Made on a stream of its own, added on the default stream, put back to nothing on that other stream: legacy orders all
// three.
static void add_made(struct own *own)
{
    unsigned first = any(own, WORDS), count = 1 + any(own, WORDS - first), times = 1 + any(own, 3);
    CUstream stream = any(own, 2) ? own->stream : CU_STREAM_PER_THREAD;
    maybe_spin(own, stream);
    for (unsigned i = 0; i < times; i++)
        CU(app_add_one(&a.app, stream, own->addend, count));
    add_shared(a.shared + first * 4u, own->addend, count, default_stream(own));
    CU(cuMemsetD32Async(own->addend, 0, count, stream));
    CU(cuEventRecord(own->event, NULL)); // 0x2 and the blocking stream are ordered by the default stream only
    note(own, first, count, times);
}

static void look_by_wait(struct own *own, unsigned count)
{
    CUstream stream = default_stream(own);
    CU(cuMemcpyDtoHAsync(own->pinned, own->copied, count * 4u, stream));
    switch (any(own, 3)) {
    case 0: CU(cuStreamSynchronize(stream)); return;
    case 1:
        CU(cuEventRecord(own->event, stream));
        CU(cuEventSynchronize(own->event));
        return;
    default:
        for (CUresult r; (r = cuStreamQuery(stream)) != CUDA_SUCCESS;)
            if (r != CUDA_ERROR_NOT_READY)
                CU(r);
        return;
    }
}

// A chain on this thread's memory, each piece behind the default stream or on it, and a look at its end. 1 if right.
static int chain(struct own *own)
{
    unsigned count = 1 + any(own, WORDS), times = 1 + any(own, 3), value = any(own, 1u << 20), right = 1;
    fill(own->chain, value, count, default_stream(own));
    for (unsigned i = 0; i < times; i++) {
        CUstream stream = some_stream(own);
        maybe_spin(own, stream);
        CU(app_add_one(&a.app, stream, own->chain, count));
        CU(cuEventRecord(own->event, default_stream(own)));
    }
    CU(cuMemcpyDtoDAsync(own->copied, own->chain, count * 4u, some_stream(own)));
    if (any(own, 2))
        look_by_wait(own, count);
    else
        CU(cuMemcpyDtoH(own->pinned, own->copied, count * 4u));
    for (unsigned i = 0; i < count; i++)
        right &= own->pinned[i] == value + times;
    return (int)right;
}

static void body(unsigned index, void *unused)
{
    struct own *own = &a.own[index];
    (void)unused;
    for (unsigned step = 1; step <= a.steps; step++) {
        unsigned kind = any(own, 8);
        if (kind < 4)
            add_one(own);
        else if (kind < 6)
            add_made(own);
        else if (!chain(own) && !own->wrong_at)
            own->wrong_at = step;
        __atomic_fetch_add(&a.progress, 1, __ATOMIC_RELAXED);
    }
}

static void *watch(void *unused)
{
    unsigned before = 0, still = 0;
    (void)unused;
    for (;; still++) {
        unsigned now = __atomic_load_n(&a.progress, __ATOMIC_RELAXED);
        if (now != before)
            still = 0;
        before = now;
        if (still >= HANG_S) {
            printf("seed %u hangs\n", __atomic_load_n(&a.seed, __ATOMIC_RELAXED));
            fflush(stdout);
            _exit(1);
        }
        app_sleep_ms(1000);
    }
    return NULL;
}

static void start(void)
{
    app_start(&a.app);
    CU(cuModuleGetFunction(&a.fill, a.app.module, "fill"));
    CU(cuModuleGetFunction(&a.add, a.app.module, "add"));
    CU(cuMemAlloc(&a.shared, BYTES));
    for (unsigned i = 0; i < THREADS_MOST; i++) {
        struct own *own = &a.own[i];
        void *pinned;
        own->index = i;
        CU(cuMemAlloc(&own->addend, BYTES));
        CU(cuMemAlloc(&own->chain, BYTES));
        CU(cuMemAlloc(&own->copied, BYTES));
        CU(cuMemHostAlloc(&pinned, BYTES, 0));
        own->pinned = pinned;
        CU(cuStreamCreate(&own->stream, CU_STREAM_DEFAULT));
        CU(cuEventCreate(&own->event, CU_EVENT_DISABLE_TIMING));
    }
}

static void begin(unsigned seed)
{
    __atomic_store_n(&a.seed, seed, __ATOMIC_RELAXED);
    CU(cuMemsetD32(a.shared, 0, WORDS));
    for (unsigned i = 0; i < THREADS_MOST; i++) {
        struct own *own = &a.own[i];
        own->random = (seed * 16ull + i) * 0x9e3779b97f4a7c15u;
        own->wrong_at = 0;
        for (unsigned w = 0; w < WORDS; w++)
            own->added[w] = 0;
        CU(cuMemsetD32(own->addend, 0, WORDS));
    }
    CU(cuCtxSynchronize());
}

static uint64_t judge(unsigned threads, int *right)
{
    static uint32_t seen[WORDS];
    int said = 0;
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(seen, a.shared, BYTES));
    for (unsigned i = 0; i < threads; i++)
        if (a.own[i].wrong_at) {
            printf("seed %u wrong at step %u: thread %u looks at its own memory\n", a.seed, a.own[i].wrong_at, i);
            *right = 0;
        }
    for (unsigned w = 0; w < WORDS; w++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < threads; i++)
            sum += a.own[i].added[w];
        if (seen[w] == sum)
            continue;
        if (!said++)
            printf("seed %u wrong: word %u is %u, not %u\n", a.seed, w, seen[w], sum);
        *right = 0;
    }
    return app_digest(APP_DIGEST, seen, BYTES);
}

int main(int argc, char **argv)
{
    const char *us = getenv("RANDOM_TURNS_US");
    unsigned first = app_number(argc, argv, 1, 1), seeds = app_number(argc, argv, 2, 20);
    uint64_t digest = APP_DIGEST;
    int right = 1;
    pthread_t watcher;
    a.steps = app_number(argc, argv, 3, STEPS);
    a.most_us = us ? (unsigned)strtoul(us, NULL, 10) : SPIN_US;
    start();
    double began = app_now_ms();
    pthread_create(&watcher, NULL, watch, NULL);
    for (unsigned seed = first; seed - first < seeds; seed++) {
        unsigned threads = 2 + seed % (THREADS_MOST - 1);
        begin(seed);
        app_threads(&a.app, threads, body, NULL);
        uint64_t one = judge(threads, &right);
        printf("seed %u %016llx\n", seed, (unsigned long long)one);
        fflush(stdout);
        digest = app_digest(digest, &one, sizeof one);
    }
    return app_finish(right, digest, app_now_ms() - began);
}
