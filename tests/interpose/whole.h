/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of whole_child share: memory of two kinds, and streams of two kinds.
 */
#ifndef PTDS_TESTS_INTERPOSE_WHOLE_H
#define PTDS_TESTS_INTERPOSE_WHOLE_H

#include <vector>

#include "tests/interpose/simulated.h"

enum { BYTES = 1 << 16, CHUNK = 2 << 20 };
inline CUdeviceptr one, other;
inline CUstream stream, apart;
inline char *pinned;

inline void launch(const char *name, CUstream where, std::vector<void *> params)
{
    CU(cuLaunchKernel(kernel(name), 1, 1, 1, 32, 1, 1, 0, where, params.data(), nullptr));
}

inline void prepare()
{
    start();
    CU(cuMemAlloc(&one, BYTES));
    CU(cuMemAlloc(&other, BYTES));
    CU(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuStreamCreateWithPriority(&apart, CU_STREAM_NON_BLOCKING, -1));
}

/* whole_work.cc */
int graphs();
int kernels();
int libraries();
int failures();

#endif
