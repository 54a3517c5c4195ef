/* SPDX-License-Identifier: Apache-2.0
 *
 * A library whose constructor uses CUDA while it holds the loader's lock, and while another thread makes its first call: it
 * tells of itself on descriptor 200, and gives that thread some time.
 */
#include <unistd.h>

extern "C" {
#include "interpose/api/cuda_abi.h"
}

namespace
{

__attribute__((constructor)) void slow()
{
    CUcontext context;
    if (write(200, "x", 1) != 1)
        return;
    usleep(300000);
    cuCtxCreate_v2(&context, 0, 0);
    cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

} // namespace
