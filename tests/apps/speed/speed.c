/* SPDX-License-Identifier: Apache-2.0
 *
 * The common part of the programs of this folder (speed.h).
 */
#include "tests/apps/speed/speed.h"

enum { BLOCK = 128 };

void speed_start(struct speed *speed)
{
    app_start(&speed->app);
    CU(cuModuleGetFunction(&speed->spin_add, speed->app.module, "spin_add"));
    CUdeviceptr words = speed_buffer();
    speed_launch(speed, NULL, words, 1000);
    CU(cuCtxSynchronize());
    CU(cuMemFree(words));
}

CUdeviceptr speed_buffer(void)
{
    CUdeviceptr words;
    CU(cuMemAlloc(&words, SPEED_WORDS * sizeof(uint32_t)));
    CU(cuMemsetD32(words, 0, SPEED_WORDS));
    return words;
}

void speed_launch(const struct speed *speed, CUstream stream, CUdeviceptr words, uint64_t ns)
{
    uint32_t count = SPEED_WORDS;
    void *params[] = {&words, &ns, &count};
    CU(cuLaunchKernel(speed->spin_add, 1, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

int speed_check(CUdeviceptr words, uint32_t value, uint64_t *digest)
{
    uint32_t host[SPEED_WORDS];
    int right = 1;
    CU(cuMemcpyDtoH(host, words, sizeof host));
    for (int i = 0; i < SPEED_WORDS; i++)
        right &= host[i] == value;
    *digest = app_digest(*digest, host, sizeof host);
    return right;
}
