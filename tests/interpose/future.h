/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs that call new functions of the driver share: how they find them, slow work, and words to copy.
 */
#ifndef PTDS_TESTS_INTERPOSE_FUTURE_H
#define PTDS_TESTS_INTERPOSE_FUTURE_H

#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

#include "tests/interpose/simulated.h"

enum { WORDS = 64, SLOW_NS = 20000000 };

inline void *driver;
inline CUfunction spin;
inline CUdeviceptr src, dst, out;

inline void open_driver()
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
}

inline void *ask(const std::string &how, const char *name, bool twin)
{
    void *found = nullptr;
    const std::string twins = std::string(name) + "_ptsz";
    if (how == "proc")
        CU(cuGetProcAddress_v2(name, &found, 99000, twin ? 2 : 1, nullptr));
    else
        found = dlsym(how == "default" ? RTLD_DEFAULT : driver, twin ? twins.c_str() : name);
    if (!found)
        printf("WRONG: no %s\n", name);
    return found;
}

inline void start_with_memory()
{
    start();
    spin = kernel("spin_ns");
    for (CUdeviceptr *memory : {&src, &dst, &out})
        CU(cuMemAlloc(memory, (WORDS + 1) * sizeof(unsigned)));
}

inline void slow(CUstream stream)
{
    uint64_t ns = SLOW_NS;
    void *params[] = {&ns};
    CU(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
}

inline void expect_words(const char *what, const std::vector<unsigned> &words, unsigned value)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i] != value) {
            printf("WRONG: %s: word %zu is %u, not %u\n", what, i, words[i], value);
            return;
        }
}

inline void reset()
{
    CU(cuMemsetD32(src, 1, WORDS));
    CU(cuMemsetD32(dst, 2, WORDS + 1));
    CU(cuMemsetD32(out, 3, WORDS + 1));
    CU(cuCtxSynchronize());
}

/* Work of another thread's default stream, which comes before. */
inline void in_other_thread(CUdeviceptr at, unsigned value)
{
    std::thread([=] {
        CU(cuCtxSetCurrent(context));
        slow(nullptr);
        CU(cuMemsetD32Async(at, value, WORDS, nullptr));
    }).join();
}

#endif
