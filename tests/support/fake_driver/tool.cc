/* SPDX-License-Identifier: Apache-2.0
 *
 * With the fake driver's sources: a profiler's library that stands in the driver's place. Preloaded, it gives itself to
 * whoever opens libcuda.so.1. (A real one would go on to the driver behind it, which is loaded here for that.)
 */
#include <cstring>
#include <dlfcn.h>

#include "tests/support/fake_driver/visible.h"

using Open = void *(*)(const char *, int);

static Open next_open()
{
    return reinterpret_cast<Open>(dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.2.5"));
}

extern "C" FAKE_SHOWN void *dlopen(const char *file, int mode) noexcept
{
    Dl_info self;
    Open open = next_open();
    if (!file || strcmp(file, "libcuda.so.1") != 0 || !dladdr(reinterpret_cast<void *>(&next_open), &self))
        return open(file, mode);
    open("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return open(self.dli_fname, mode);
}
