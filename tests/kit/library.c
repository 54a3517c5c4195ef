/* SPDX-License-Identifier: Apache-2.0
 *
 * libkit_library.so: somebody else's code, which a program cannot change. Loaded by kit.c; what it does to its caller's
 * streams is what cases S3 and S19 are about. Must not print or check anything.
 */
#include "tests/kit/kit.h"

__attribute__((visibility("default"))) extern const struct kit_library kit_library_functions;

enum { BLOCK = 64 };

static void add_one_on(CUfunction add_one, CUdeviceptr p, uint32_t words, CUstream stream)
{
    void *parameters[] = {&p, &words};
    CU(cuLaunchKernel(add_one, words / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, parameters, NULL));
}

static void filter(CUfunction add_one, CUdeviceptr p, uint32_t words, CUstream mine)
{
    add_one_on(add_one, p, words, mine);
    CU(cuCtxSynchronize());
}

static void helper(CUfunction add_one, CUdeviceptr p, CUdeviceptr scratch, uint32_t words, CUstream users)
{
    CU(cuMemsetD32Async(scratch, 3, words, NULL));
    add_one_on(add_one, p, words, users);
}

const struct kit_library kit_library_functions = {filter, helper};
