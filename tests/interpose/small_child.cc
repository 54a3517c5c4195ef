/* SPDX-License-Identifier: Apache-2.0
 *
 * Work on the default stream by functions that are looked up, which the argument says how: dlsym, or proc for
 * cuGetProcAddress. Prints what it computed.
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <thread>

extern "C" {
#include "interpose/api/cuda_abi.h"
}
#include "tests/conformance/kernels.ptx.h"

namespace
{

void *driver;
decltype(&cuGetProcAddress_v2) ask;

/* `name` as cuGetProcAddress calls it, `symbol` as dlsym does. */
void *find(const char *name, const char *symbol)
{
    void *found = nullptr;
    if (!ask)
        return dlsym(driver, symbol);
    return ask(name, &found, 13000, 0, nullptr) == CUDA_SUCCESS ? found : nullptr;
}
#define FIND(name, symbol) reinterpret_cast<decltype(&symbol)>(find(#name, #symbol))
#define MUST(call) \
    if ((call) != CUDA_SUCCESS) { \
        printf("WRONG %s\n", #call); \
        return; \
    }

CUcontext context;
CUfunction add_one;

void work(unsigned *result)
{
    CUdeviceptr memory;
    unsigned count = 1;
    void *parameters[] = {&memory, &count};
    MUST(FIND(cuCtxSetCurrent, cuCtxSetCurrent)(context));
    MUST(FIND(cuMemAlloc, cuMemAlloc_v2)(&memory, 4));
    MUST(FIND(cuMemsetD32, cuMemsetD32_v2)(memory, 40, 1));
    for (int i = 0; i < 2; i++)
        MUST(FIND(cuLaunchKernel, cuLaunchKernel)(add_one, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    MUST(FIND(cuMemcpyDtoH, cuMemcpyDtoH_v2)(result, memory, 4));
    MUST(FIND(cuMemFree, cuMemFree_v2)(memory));
}

void all()
{
    CUmodule module;
    unsigned results[2] = {};
    MUST(reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"))(0));
    MUST(reinterpret_cast<decltype(&cuCtxCreate_v2)>(dlsym(driver, "cuCtxCreate_v2"))(&context, 0, 0));
    MUST(FIND(cuModuleLoadData, cuModuleLoadData)(&module, ptds_test_ptx));
    MUST(FIND(cuModuleGetFunction, cuModuleGetFunction)(&add_one, module, "add_one"));
    for (unsigned &result : results)
        std::thread(work, &result).join();
    printf("%u %u\n", results[0], results[1]);
}

} // namespace

int main(int argc, char **argv)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 2;
    if (argc > 1 && strcmp(argv[1], "proc") == 0)
        ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(driver, "cuGetProcAddress_v2"));
    all();
    return 0;
}
