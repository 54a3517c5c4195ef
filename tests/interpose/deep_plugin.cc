/* SPDX-License-Identifier: Apache-2.0
 *
 * A library to be opened with RTLD_DEEPBIND. Says where its own references lead. Built in several ways: see BUILD.
 *
 *     WITH_DRIVER    linked with the driver
 *     OLD_LOOKUPS    asks for the look-ups by the version that they had before glibc 2.34
 *     OWN_LOOKUP     has a dlsym of its own
 *     EARLY          looks the driver up in its constructor, too, and opens $DEEP_OPENS
 *     PYTHON         is a module of Python's, as far as that finds its initialisation
 *     UNRESOLVED     refers to a function that nobody has
 */
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

extern "C" {
#include "interpose/api/cuda_abi.h"
#include "interpose/base/first_glibc.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT const void *deep_address(const char *name);
EXPORT const void *deep_find(const char *name);
EXPORT const void *deep_find_version(const char *name, const char *version);
EXPORT const void *deep_early();
EXPORT void *deep_open(const char *file, int mode);
EXPORT int deep_launch();
#ifdef PYTHON
EXPORT void *PyInit_libdeep_python();
#endif
#ifdef UNRESOLVED
EXPORT void deep_unresolved();
void nobody_has_this();
#endif

#ifdef OLD_LOOKUPS
void *old_dlsym(void *, const char *);
void *old_dlvsym(void *, const char *, const char *);
void *old_dlopen(const char *, int);
#endif
#ifdef OWN_LOOKUP
EXPORT void *dlsym(void *, const char *) noexcept;
#endif
}

#ifdef OLD_LOOKUPS
__asm__(".symver old_dlsym,dlsym@" FIRST_GLIBC);
__asm__(".symver old_dlvsym,dlvsym@" FIRST_GLIBC);
__asm__(".symver old_dlopen,dlopen@" FIRST_GLIBC);
#define dlsym old_dlsym
#define dlvsym old_dlvsym
#define dlopen old_dlopen
#endif

#ifdef OWN_LOOKUP
void *dlsym(void *, const char *) noexcept
{
    return reinterpret_cast<void *>(&deep_find);
}
#endif

namespace
{

struct {
    const char *name;
    void *address;
} const addresses[] = {
    {"dlsym", (void *)dlsym},
    {"dlvsym", (void *)dlvsym},
    {"dlopen", (void *)dlopen},
    {"dladdr", (void *)dladdr},
#ifdef WITH_DRIVER
    {"cuLaunchKernel", (void *)cuLaunchKernel},
    {"cuLaunchKernel_ptsz", (void *)cuLaunchKernel_ptsz},
#endif
};

const void *early;

#ifdef EARLY
__attribute__((constructor)) void look_up_early()
{
    early = deep_find("cuLaunchKernel");
    if (const char *file = getenv("DEEP_OPENS"))
        deep_open(file, RTLD_NOW | RTLD_DEEPBIND);
}
#endif

} // namespace

const void *deep_address(const char *name)
{
    for (const auto &known : addresses) {
        if (strcmp(known.name, name) == 0)
            return known.address;
    }
    return nullptr;
}

const void *deep_find(const char *name)
{
    return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

const void *deep_find_version(const char *name, const char *version)
{
    return dlvsym(dlopen("libcuda.so.1", RTLD_NOW), name, version);
}

#ifdef PYTHON
void *PyInit_libdeep_python()
{
    return nullptr;
}
#endif

#ifdef UNRESOLVED
void deep_unresolved()
{
    nobody_has_this();
}
#endif

const void *deep_early()
{
    return early;
}

void *deep_open(const char *file, int mode)
{
    void *volatile opened = dlopen(file, mode); /* no tail call: it is this library that asks */
    return opened;
}

int deep_launch()
{
#ifdef WITH_DRIVER
    CUcontext context;
    return cuInit(0) || cuCtxCreate_v2(&context, 0, 0) ||
           cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
#else
    return -1;
#endif
}
