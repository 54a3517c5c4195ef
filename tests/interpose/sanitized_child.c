/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is right in the eyes of every sanitizer, compiled by sanitizers_test.cc with each of them. Without
 * WITH_CUDA it knows nothing of CUDA; with it, four threads work on the default stream and on streams of their own.
 */
#include <stdio.h>

#ifndef WITH_CUDA

int main(void)
{
    puts("right");
    return 0;
}

#else

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1024, TIMES = 50, THREADS = 4 };

static CUcontext context;

static void must(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("WRONG: %d\n", (int)result);
    exit(3);
}

static void once(CUdeviceptr memory, CUstream stream, CUevent event, unsigned value, unsigned *words)
{
    must(cuMemsetD32Async(memory, value, WORDS, 0));
    must(cuEventRecord(event, 0));
    must(cuStreamWaitEvent(stream, event, 0));
    must(cuMemcpyDtoHAsync(words, memory, WORDS * sizeof *words, stream));
    must(cuStreamSynchronize(stream));
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != value)
            must(CUDA_ERROR_UNKNOWN);
    }
    must(cuMemcpyHtoD(memory, words, WORDS * sizeof *words));
}

static void *work(void *argument)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    unsigned *words = malloc(WORDS * sizeof *words);
    must(cuCtxSetCurrent(context));
    must(cuMemAlloc(&memory, WORDS * sizeof *words));
    must(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    must(cuEventCreate(&event, CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < TIMES; i++)
        once(memory, stream, event, (unsigned)(size_t)argument * TIMES + i, words);
    must(cuEventDestroy(event));
    must(cuStreamDestroy(stream));
    must(cuMemFree(memory));
    free(words);
    return NULL;
}

int main(void)
{
    CUdevice device;
    pthread_t threads[THREADS];
    must(cuInit(0));
    must(cuDeviceGet(&device, 0));
    must(cuCtxCreate(&context, NULL, 0, device));
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("right");
    return 0;
}

#endif
