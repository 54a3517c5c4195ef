/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver with two conflicts and much between: gap_child CALLS [killed | BYTES].
 *
 *     a blocking stream writes what the default stream then copies: their order is needed
 *     a non-blocking stream writes what another then writes: nothing orders them
 *
 * Between the first of each and the second another thread makes so many launches, and one after them. "killed": it ends by
 * SIGKILL, else by exit. BYTES: no file may grow beyond that, once it has memory.
 */
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <sys/resource.h>
#include <thread>

#include "tests/interpose/simulated.h"

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 0;
    CUstream blocking, one, other, apart;
    CUdeviceptr ordered, raced, copy;
    std::atomic<int> step = {0};
    start();
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (CUstream *stream : {&one, &other, &apart})
        CU(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    for (CUdeviceptr *memory : {&ordered, &raced, &copy})
        CU(cuMemAlloc(memory, 4096));
    if (argc > 2 && atoi(argv[2]) != 0) {
        const rlimit limit = {static_cast<rlim_t>(atoi(argv[2])), RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    CUfunction empty = kernel("empty");
    std::thread between([&] {
        CU(cuCtxSetCurrent(context));
        for (int i = 0; i <= calls; i++) {
            if (i == 1 || i == calls)
                for (step++; step % 2 != 0;)
                    std::this_thread::yield();
            CU(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, apart, nullptr, nullptr));
        }
    });
    while (step != 1)
        std::this_thread::yield();
    CU(cuMemsetD8Async(ordered, 1, 4096, blocking));
    CU(cuMemsetD8Async(raced, 1, 4096, one));
    for (step++; step != 3;)
        std::this_thread::yield();
    CU(cuMemcpyDtoDAsync(copy, ordered, 4096, nullptr));
    CU(cuMemsetD8Async(raced, 2, 4096, other));
    step++;
    between.join();
    if (argc > 2 && atoi(argv[2]) == 0)
        raise(SIGKILL);
    CU(cuCtxSynchronize());
    return 0;
}
