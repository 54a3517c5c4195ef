/* SPDX-License-Identifier: Apache-2.0
 *
 * conflict [threads 8] [kernels 200] [ns 0]: threads whose kernels on the default stream all add to the same words, so that
 * no two of them may overlap: the sum tells. There is nothing to gain from streams of their own, and what keeping the order
 * costs shows. Run by scripts/gpu.
 */
#include "tests/apps/speed/speed.h"

struct run {
    struct speed speed;
    unsigned kernels, ns;
    CUdeviceptr words;
};

static void work(unsigned index, void *shared)
{
    const struct run *run = shared;
    (void)index;
    for (unsigned k = 0; k < run->kernels; k++)
        speed_launch(&run->speed, NULL, run->words, run->ns);
    CU(cuStreamSynchronize(NULL));
}

int main(int argc, char **argv)
{
    struct run run = {0};
    unsigned threads = app_number(argc, argv, 1, 8);
    uint64_t digest = APP_DIGEST;
    run.kernels = app_number(argc, argv, 2, 200);
    run.ns = app_number(argc, argv, 3, 0);
    speed_start(&run.speed);
    run.words = speed_buffer();
    CU(cuCtxSynchronize());
    double ms = app_threads(&run.speed.app, threads, work, &run);
    int right = speed_check(run.words, threads * run.kernels, &digest);
    return app_finish(right, digest, ms);
}
