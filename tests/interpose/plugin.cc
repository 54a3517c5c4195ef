/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in that is linked with the driver: the driver is in its own scope, and not in the program's.
 */
#include <dlfcn.h>

extern "C" {
#include "interpose/api/cuda_abi.h"

__attribute__((visibility("default"))) void *plugin_find(int next, const char *name);
__attribute__((visibility("default"))) void plugin_own();
__attribute__((visibility("default"))) void cuPluginOwn();
__attribute__((visibility("default"))) int plugin_use();
}

void plugin_own()
{
}

void cuPluginOwn()
{
}

void *plugin_find(int next, const char *name)
{
    void *volatile found = dlsym(next ? RTLD_NEXT : RTLD_DEFAULT, name); /* no tail call: it is this library that asks */
    return found;
}

int plugin_use()
{
    CUcontext context;
    return cuInit(0) || cuCtxCreate_v2(&context, 0, 0) ||
           cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}
