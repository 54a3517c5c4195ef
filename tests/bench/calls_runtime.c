/* SPDX-License-Identifier: Apache-2.0
 *
 * calls_runtime [batches 200] [warm-up batches 20] [before 0]: calls.c for a program of the runtime API, one thread: `name
 * runtime 1 median p10 p90`, nanoseconds of host time for a call, over batches. before: so many event records first. Run by
 * scripts/bench on a GPU, with GPU times recorded and without; the simulated driver is not enough for the runtime.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/lane.h"

#define RT(call) must((CUresult)(call), #call)

enum { BATCH = 200, AT_ONCE = 500 };

static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n";

static cudaKernel_t empty;
static cudaEvent_t event;
static void *words, *pinned;

static cudaError_t launch(void)
{
    const dim3 one = {1, 1, 1};
    return cudaLaunchKernel((const void *)empty, one, one, NULL, 0, NULL);
}

static cudaError_t copy(void)
{
    return cudaMemcpyAsync(words, pinned, 64, cudaMemcpyHostToDevice, NULL);
}

static cudaError_t record(void)
{
    return cudaEventRecord(event, NULL);
}

static const struct runtime_call {
    const char *name;
    cudaError_t (*run)(void);
} runtime_calls[] = {{"launch", launch}, {"memcpy-htod-async", copy}, {"event-record", record}};

static void prepare(unsigned before)
{
    cudaLibrary_t library;
    RT(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    RT(cudaLibraryGetKernel(&empty, library, "empty"));
    RT(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    RT(cudaMalloc(&words, 4096));
    RT(cudaMallocHost(&pinned, 4096));
    for (unsigned made = 0; made < before; made++) {
        RT(record());
        if (made % AT_ONCE == 0)
            RT(cudaDeviceSynchronize());
    }
}

static double one_batch(const struct runtime_call *call)
{
    RT(cudaDeviceSynchronize());
    uint64_t began = now_ns();
    for (unsigned i = 0; i < BATCH; i++)
        RT(call->run());
    return (double)(now_ns() - began) / BATCH;
}

int main(int argc, char **argv)
{
    unsigned batches = number(argc, argv, 1, 200), warm_up = number(argc, argv, 2, 20);
    double *ns = calloc(batches ? batches : 1, sizeof *ns);
    prepare(number(argc, argv, 3, 0));
    for (size_t c = 0; c < sizeof runtime_calls / sizeof *runtime_calls; c++) {
        for (unsigned batch = 0; batch < warm_up; batch++)
            one_batch(&runtime_calls[c]);
        for (unsigned batch = 0; batch < batches; batch++)
            ns[batch] = one_batch(&runtime_calls[c]);
        printf("%s runtime 1 %.1f %.1f %.1f\n", runtime_calls[c].name, percentile(ns, batches, 50),
               percentile(ns, batches, 10), percentile(ns, batches, 90));
    }
    free(ns);
    return 0;
}
