/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded before the shim: watches what a library that looks the driver up is given. A line on stderr for each answer of
 * dlsym for a driver's name and of cuGetProcAddress_v2:
 *
 *     spy DOOR NAME VERSION FLAGS SYMBOL OBJECT
 */
#include "interpose/base/first_glibc.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

extern "C" {
#include "interpose/api/cuda_abi.h"
__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name) noexcept;
}

namespace
{

decltype(&cuGetProcAddress_v2) real_ask;

void say(const char *door, const char *name, int version, unsigned long long flags, const void *found)
{
    char line[512];
    Dl_info info = {};
    const char *object = "none", *symbol = "absent";
    if (found && dladdr(found, &info) && info.dli_saddr == found) {
        const char *slash = strrchr(info.dli_fname, '/');
        object = slash ? slash + 1 : info.dli_fname;
        symbol = info.dli_sname;
    }
    int size =
        snprintf(line, sizeof line, "spy %s %s %d %llu %s %s\n", door, *name ? name : "-", version, flags, symbol, object);
    if (write(STDERR_FILENO, line, static_cast<size_t>(size)) != size)
        abort();
}

CUresult ask(const char *name, void **function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    CUresult result = real_ask(name, function, version, flags, status);
    say("proc", name, version, flags, result ? nullptr : *function);
    if (strcmp(name, "cuGetProcAddress") == 0 && version >= 12000)
        *function = reinterpret_cast<void *>(&ask); /* go on watching */
    return result;
}

} // namespace

void *dlsym(void *handle, const char *name) noexcept
{
    using Lookup = void *(*)(void *, const char *);
    static Lookup next;
    if (!next)
        next = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", FIRST_GLIBC));
    void *found = next(handle, name);
    if (strncmp(name, "cu", 2) == 0)
        say("dlsym", name, 0, 0, found);
    if (found && strcmp(name, "cuGetProcAddress_v2") == 0) {
        real_ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(found);
        return reinterpret_cast<void *>(&ask);
    }
    return found;
}
