/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcuda.so.1 that has just the functions which `ptds doctor` asks for and the shim knows a driver by, so that its
 * verdicts can be tested without a driver and without the simulated one. OLD: as before CUDA 12, which brought
 * cuGetProcAddress_v2.
 */
#include <stdint.h>
#include <string.h>

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuLaunchKernel(void);
int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status);

int cuInit(unsigned int flags)
{
    return flags != 0;
}

int cuDriverGetVersion(int *version)
{
#ifdef OLD
    *version = 11080;
#else
    *version = 13000;
#endif
    return 0;
}

int cuLaunchKernel(void)
{
    return 0;
}

/* Some of what GPUs are asked by, without which nobody may ask the rest. */
int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags)
{
    if (flags != 0 || version < 4000)
        return 1;
    *address = strcmp(name, "cuLaunchKernel") == 0 ? (void *)cuLaunchKernel : NULL;
    return *address != NULL ? 0 : 500;
}

#ifndef OLD
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status)
{
    if (status != NULL)
        *status = 0;
    return cuGetProcAddress(name, address, version, flags);
}
#endif
