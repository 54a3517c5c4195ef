/* SPDX-License-Identifier: Apache-2.0
 *
 * halves [threads 2] [kernels 100] [ns 200000] [shared 0] [by-hand 0]: one allocation, all on the default stream: kernels
 * that add to the words of its one half and kernels that add to those of the other. Two threads have a half each; one
 * thread has both and launches them in turn. shared: so many words behind the middle belong to both halves, so that no two
 * kernels may overlap: the sums tell. By hand: a non-blocking stream for each half. Run by scripts/gpu.
 */
#include "tests/apps/app.h"

/* More than 64 KiB from the middle to any other allocation: a pointer may mean what lies nearer. */
enum { HALF_WORDS = 32 * 1024, WARM = 4 };

struct run {
    struct app app;
    CUfunction spin_add;
    unsigned threads, kernels, ns, shared;
    CUdeviceptr half[2];
    CUstream stream[2];
};

static void add(const struct run *run, unsigned half)
{
    CUdeviceptr words = run->half[half];
    uint64_t ns = run->ns;
    uint32_t count = HALF_WORDS + (half ? 0 : run->shared);
    void *params[] = {&words, &ns, &count};
    CU(cuLaunchKernel(run->spin_add, 16, 1, 1, 128, 1, 1, 0, run->stream[half], params, NULL));
}

static void work(unsigned index, void *shared)
{
    const struct run *run = shared;
    for (unsigned k = 0; k < run->kernels; k++) {
        for (unsigned half = 0; half < 2; half++)
            if (run->threads == 1 || half == index)
                add(run, half);
    }
    CU(cuStreamSynchronize(run->stream[index]));
    if (run->threads == 1)
        CU(cuStreamSynchronize(run->stream[1]));
}

static int check(const struct run *run, uint32_t times, uint64_t *digest)
{
    static uint32_t host[2 * HALF_WORDS];
    int right = 1;
    CU(cuMemcpyDtoH(host, run->half[0], sizeof host));
    for (unsigned i = 0; i < 2 * HALF_WORDS; i++) {
        int is_shared = i >= HALF_WORDS && i < HALF_WORDS + run->shared;
        right &= host[i] == times * (is_shared ? 2 : 1);
    }
    *digest = app_digest(*digest, host, sizeof host);
    return right;
}

int main(int argc, char **argv)
{
    static struct run run;
    uint64_t digest = APP_DIGEST;
    run.threads = app_number(argc, argv, 1, 2) == 1 ? 1 : 2;
    unsigned kernels = app_number(argc, argv, 2, 100);
    run.ns = app_number(argc, argv, 3, 200000);
    run.shared = app_number(argc, argv, 4, 0);
    app_start(&run.app);
    CU(cuModuleGetFunction(&run.spin_add, run.app.module, "spin_add"));
    for (unsigned half = 0; half < 2 && app_number(argc, argv, 5, 0); half++)
        CU(cuStreamCreate(&run.stream[half], CU_STREAM_NON_BLOCKING));
    CU(cuMemAlloc(&run.half[0], 2 * HALF_WORDS * sizeof(uint32_t)));
    run.half[1] = run.half[0] + HALF_WORDS * sizeof(uint32_t);
    CU(cuMemsetD32(run.half[0], 0, 2 * HALF_WORDS));
    run.kernels = WARM;
    app_threads(&run.app, run.threads, work, &run);
    CU(cuCtxSynchronize());
    run.kernels = kernels;
    double ms = app_threads(&run.app, run.threads, work, &run);
    int right = check(&run, kernels + WARM, &digest);
    return app_finish(right, digest, ms);
}
