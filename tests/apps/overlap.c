// SPDX-License-Identifier: Apache-2.0
//
// overlap [threads 8] [kernels 50] [ns 200000] [only-kernels 0]: host threads that each put kernels
// on the default stream, with a memset and a small synchronous copy every ten, and check what they
// read back. Under the legacy default stream the threads' kernels run one after another. Run by
// scripts/demo and scripts/gpu; needs nothing but a driver, real or simulated.

#include <stdio.h>
#include <stdlib.h>

#include "app.h"

enum { WORDS = 1024, PERIOD = 10 };

struct run {
    struct app app;
    unsigned kernels, ns, only_kernels;
    uint64_t *digests;
    int *wrong;
};

struct lane {
    CUdeviceptr words;
    uint32_t *host;
};

// Every word must be what the memset wrote plus the kernels since.
static int all_equal(const uint32_t *words, uint32_t value)
{
    for (unsigned i = 0; i < WORDS; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

static void work(unsigned index, void *shared)
{
    struct run *run = shared;
    struct lane lane;
    uint32_t expected = index;
    CU(cuMemAlloc(&lane.words, WORDS * sizeof(uint32_t)));
    lane.host = calloc(WORDS, sizeof(uint32_t));
    CU(cuMemsetD32(lane.words, expected, WORDS));
    for (unsigned k = 1; k <= run->kernels; k++) {
        CU(app_spin(&run->app, NULL, run->ns));
        CU(app_add_one(&run->app, NULL, lane.words, WORDS));
        expected++;
        if (run->only_kernels || k % PERIOD != 0)
            continue;
        CU(cuMemcpyDtoH(lane.host, lane.words, WORDS * sizeof(uint32_t)));
        run->wrong[index] += !all_equal(lane.host, expected);
        expected = index + 1000 * k;
        CU(cuMemsetD32(lane.words, expected, WORDS));
    }
    CU(cuMemcpyDtoH(lane.host, lane.words, WORDS * sizeof(uint32_t)));
    run->wrong[index] += !all_equal(lane.host, expected);
    run->digests[index] = app_digest(APP_DIGEST, lane.host, WORDS * sizeof(uint32_t));
    free(lane.host);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    unsigned threads = app_number(argc, argv, 1, 8);
    run.kernels = app_number(argc, argv, 2, 50);
    run.ns = app_number(argc, argv, 3, 200000);
    run.only_kernels = app_number(argc, argv, 4, 0);
    run.digests = calloc(threads, sizeof *run.digests);
    run.wrong = calloc(threads, sizeof *run.wrong);
    app_start(&run.app);

    double ms = app_threads(&run.app, threads, work, &run);
    uint64_t digest = APP_DIGEST;
    int wrong = 0;
    for (unsigned i = 0; i < threads; i++) {
        digest = app_digest(digest, &run.digests[i], sizeof run.digests[i]);
        wrong += run.wrong[i];
    }
    return app_finish(wrong == 0, digest, ms);
}
