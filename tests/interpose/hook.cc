/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody else's dlsym hook, to be preloaded before or after the shim: counts what passes and goes on to the next one.
 */
#include "interpose/base/first_glibc.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void *dlsym(void *handle, const char *name) noexcept;

void *dlsym(void *handle, const char *name) noexcept
{
    using Lookup = void *(*)(void *, const char *);
    static Lookup next;
    if (!next)
        next = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", FIRST_GLIBC));
    if (getenv("HOOK_LOG")) {
        char line[256];
        int size = snprintf(line, sizeof line, "hook: %s\n", name);
        if (write(STDERR_FILENO, line, static_cast<size_t>(size)) != size)
            abort();
    }
    return next(handle, name);
}
