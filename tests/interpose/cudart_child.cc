/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of the runtime API. Its start looks up the whole driver; whether a device then works does not matter.
 */
#include <cstdio>
#include <cuda_runtime_api.h>

int main()
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    void *memory = nullptr;
    cudaError_t second = cudaMalloc(&memory, 256);
    printf("%d %d\n", error, second);
    return 0;
}
