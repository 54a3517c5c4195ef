// SPDX-License-Identifier: Apache-2.0
//
// libexcluded.so (excluded.h). Called by promises.

#include "tests/apps/handovers/excluded.h"

#include <stdlib.h>

void excluded_copy(void *to, CUdeviceptr from, size_t bytes)
{
    if (cuMemcpyDtoHAsync(to, from, bytes, NULL) != CUDA_SUCCESS)
        abort();
}
