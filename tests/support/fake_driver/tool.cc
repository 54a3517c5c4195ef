/* SPDX-License-Identifier: Apache-2.0
 *
 * With the fake driver's sources: a profiler's library that stands in the driver's place. Preloaded, it gives itself to
 * whoever opens libcuda.so.1. Like Nsight Compute's it is the first of the process to look something up in the driver
 * behind it. (A real one would go on to that driver; this one answers by itself.)
 */
#include "interpose/base/first_glibc.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

#include "tests/support/fake_driver/visible.h"

using Open = void *(*)(const char *, int);

static Open next_open()
{
    return reinterpret_cast<Open>(dlvsym(RTLD_NEXT, "dlopen", FIRST_GLIBC));
}

extern "C" FAKE_SHOWN void *dlopen(const char *file, int mode) noexcept
{
    Dl_info self;
    Open open = next_open();
    if (!file || strcmp(file, "libcuda.so.1") != 0 || !dladdr(reinterpret_cast<void *>(&next_open), &self))
        return open(file, mode);
    return open(self.dli_fname, mode);
}

__attribute__((constructor)) static void look_behind()
{
    void *behind = next_open()("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (const char *name : {"cuInit", "cuLaunchKernel", "cuGetProcAddress_v2"}) {
        void *found = behind ? dlsym(behind, name) : nullptr;
        Dl_info where;
        if (!found || !dladdr(found, &where) || !strstr(where.dli_fname, "libcuda.so"))
            fprintf(stderr, "%s is not the driver's own\n", name);
    }
}
