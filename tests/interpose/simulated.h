/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs for the simulated driver share: a context with the conformance programs' kernels in it. An error ends
 * the program with a line that says WRONG.
 */
#ifndef PTDS_TESTS_INTERPOSE_SIMULATED_H
#define PTDS_TESTS_INTERPOSE_SIMULATED_H

#include <cstdio>
#include <unistd.h>

#include <cuda.h>

#include "tests/conformance/kernels.ptx.h"

#define CU(call) must((call), #call)

inline void must(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("WRONG %s -> %d\n", call, static_cast<int>(result));
    fflush(stdout);
    _exit(1);
}

inline CUcontext context;
inline CUmodule module;

inline void start()
{
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    CU(cuModuleLoadData(&module, ptds_test_ptx));
}

inline CUfunction kernel(const char *name)
{
    CUfunction function;
    CU(cuModuleGetFunction(&function, module, name));
    return function;
}

#endif
