// SPDX-License-Identifier: Apache-2.0
//
// mixed_threads [threads 8] [rounds 20] [ns 200000]: each thread mixes the default stream with a
// blocking stream of its own, on its own data, so that only legacy order within the thread makes
// the results right. PTDS_POLICY=guarded must be right and let the threads overlap; plain
// per-thread streams give wrong results here. Run by scripts/gpu and the policy tests.

#include <stdlib.h>

#include "app.h"

enum { WORDS = 4096, BYTES = WORDS * 4 };

struct run {
    struct app app;
    unsigned rounds, ns;
    int *wrong;
    uint64_t *digests;
};

struct lane {
    CUstream mine;
    CUdeviceptr a, b;
    uint32_t *host;
};

static void make_lane(struct lane *lane)
{
    CU(cuStreamCreate(&lane->mine, CU_STREAM_DEFAULT));
    CU(cuMemAlloc(&lane->a, BYTES));
    CU(cuMemAlloc(&lane->b, BYTES));
    lane->host = malloc(BYTES);
}

// Six changes of stream; a missing wait at any of them changes the sum.
static int one_round(const struct run *run, struct lane *lane, uint32_t seed)
{
    const struct app *app = &run->app;
    CU(app_spin(app, NULL, run->ns));
    CU(cuMemsetD32Async(lane->a, seed, WORDS, NULL));
    CU(app_add_one(app, lane->mine, lane->a, WORDS));
    CU(app_spin(app, lane->mine, run->ns));
    CU(app_add_one(app, lane->mine, lane->a, WORDS));
    CU(cuMemcpyDtoD(lane->b, lane->a, BYTES));
    CU(app_add_one(app, lane->mine, lane->b, WORDS));
    CU(cuMemcpyDtoH(lane->host, lane->b, BYTES));
    for (unsigned i = 0; i < WORDS; i++)
        if (lane->host[i] != seed + 3)
            return 0;
    return 1;
}

static void work(unsigned index, void *shared)
{
    struct run *run = shared;
    struct lane lane;
    make_lane(&lane);
    for (unsigned i = 0; i < run->rounds; i++) {
        run->wrong[index] += !one_round(run, &lane, 1000 * index + i);
        run->digests[index] = app_digest(run->digests[index], lane.host, BYTES);
    }
    free(lane.host);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    unsigned threads = app_number(argc, argv, 1, 8);
    run.rounds = app_number(argc, argv, 2, 20);
    run.ns = app_number(argc, argv, 3, 200000);
    run.wrong = calloc(threads, sizeof *run.wrong);
    run.digests = calloc(threads, sizeof *run.digests);
    app_start(&run.app);
    double ms = app_threads(&run.app, threads, work, &run);
    int wrong = 0;
    for (unsigned i = 0; i < threads; i++)
        wrong += run.wrong[i];
    uint64_t digest = app_digest(APP_DIGEST, run.digests, threads * sizeof *run.digests);
    free(run.wrong);
    free(run.digests);
    return app_finish(wrong == 0, digest, ms);
}
