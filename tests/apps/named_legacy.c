// SPDX-License-Identifier: Apache-2.0
//
// named_legacy apart|both [threads 2] [kernels 20] [ns 2000000]: threads that name the legacy stream, CU_STREAM_LEGACY
// (0x1).
//   apart  each thread launches on 0x1 alone, on a buffer of its own: what cuda.core does by default
//   both   0x1 and a thread's own default stream are two things: one thread writes all buffers on 0x1, between what the
//   threads do
//          on theirs, and nothing orders the two but that 0x1 is the legacy stream
// Run by the tests of `ptds probe` and by scripts/gpu.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { WORDS = 1024, THREADS_MOST = 64 };

struct run {
    struct app app;
    unsigned threads, kernels, ns;
    int both;
    pthread_barrier_t turn;
    CUdeviceptr words[THREADS_MOST];
    uint32_t seen[THREADS_MOST];
};

static void write_all(struct run *run, uint32_t value)
{
    CU(app_spin(&run->app, CU_STREAM_LEGACY, run->ns));
    for (unsigned i = 0; i < run->threads; i++)
        CU(cuMemsetD32Async(run->words[i], value, WORDS, CU_STREAM_LEGACY));
}

static void both(struct run *run, unsigned index)
{
    for (unsigned k = 0; k < run->kernels; k++) {
        CU(app_spin(&run->app, CU_STREAM_PER_THREAD, run->ns));
        CU(cuMemsetD32Async(run->words[index], 1000, WORDS, CU_STREAM_PER_THREAD));
        pthread_barrier_wait(&run->turn);
        if (index == 0)
            write_all(run, k);
        pthread_barrier_wait(&run->turn);
        CU(app_add_one(&run->app, CU_STREAM_PER_THREAD, run->words[index], WORDS));
    }
    CU(cuMemcpyDtoHAsync(&run->seen[index], run->words[index], sizeof run->seen[index], CU_STREAM_PER_THREAD));
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static void apart(struct run *run, unsigned index)
{
    for (unsigned k = 0; k < run->kernels; k++) {
        CU(app_spin(&run->app, CU_STREAM_LEGACY, run->ns));
        CU(app_add_one(&run->app, CU_STREAM_LEGACY, run->words[index], WORDS));
    }
    CU(cuMemcpyDtoHAsync(&run->seen[index], run->words[index], sizeof run->seen[index], CU_STREAM_LEGACY));
    CU(cuStreamSynchronize(CU_STREAM_LEGACY));
}

static void work(unsigned index, void *shared)
{
    struct run *run = shared;
    (run->both ? both : apart)(run, index);
}

int main(int argc, char **argv)
{
    static struct run run;
    run.both = argc > 1 && strcmp(argv[1], "both") == 0;
    run.threads = app_number(argc, argv, 2, 2) % (THREADS_MOST + 1);
    run.kernels = app_number(argc, argv, 3, 20);
    run.ns = app_number(argc, argv, 4, 2000000);
    app_start(&run.app);
    pthread_barrier_init(&run.turn, NULL, run.threads);
    for (unsigned i = 0; i < run.threads; i++) {
        CU(cuMemAlloc(&run.words[i], WORDS * sizeof(uint32_t)));
        CU(cuMemsetD32(run.words[i], 0, WORDS));
    }
    CU(cuCtxSynchronize());
    double ms = app_threads(&run.app, run.threads, work, &run);
    int wrong = 0;
    for (unsigned i = 0; i < run.threads; i++)
        wrong += run.seen[i] != run.kernels; // both: the last write of 0x1 is one less, and then one is added
    return app_finish(wrong == 0, app_digest(APP_DIGEST, run.seen, run.threads * sizeof run.seen[0]), ms);
}
