/* SPDX-License-Identifier: Apache-2.0
 *
 * A library in front of the driver, as those that give each process a part of a GPU: it defines functions of the driver's
 * names, refuses what is too much, and goes on to the next definition. Compiled in several ways:
 *
 *     -DHOOK_DLSYM   it also gives its functions to whoever asks dlsym for them
 *     -DHOOK_PROC    and to whoever asks cuGetProcAddress
 *     -DBY_SCOPE     what it does not have itself, it looks for in the program's scope first
 *     -DBY_HANDLE    it looks up what it goes on to in the driver itself, by libc's own dlsym
 *
 * quota_take() says which of its functions were called since the last time.
 */
#include "interpose/base/first_glibc.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

extern "C" {
#include "interpose/api/cuda_abi.h"
__attribute__((visibility("default"))) const char *quota_take();
}

namespace
{

using Lookup = void *(*)(void *, const char *);

std::string &called()
{
    static std::string names;
    return names;
}

void *next(const char *name)
{
#ifdef BY_HANDLE
    static const auto find = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", FIRST_GLIBC));
    return find(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name);
#else
    return dlsym(RTLD_NEXT, name);
#endif
}

constexpr size_t most = 1 << 20;

} // namespace

const char *quota_take()
{
    static std::string last;
    last = called();
    called().clear();
    return last.c_str();
}

#define SHOWN extern "C" __attribute__((visibility("default")))
#define GOES_ON(name, params, args) \
    SHOWN CUresult name params; \
    CUresult name params \
    { \
        called() += " " #name; \
        return reinterpret_cast<decltype(&name)>(next(#name)) args; \
    }

SHOWN CUresult cuMemAlloc_v2(CUdeviceptr *place, size_t size);
CUresult cuMemAlloc_v2(CUdeviceptr *place, size_t size)
{
    called() += " cuMemAlloc_v2";
    return size > most ? CUDA_ERROR_OUT_OF_MEMORY
                       : reinterpret_cast<decltype(&cuMemAlloc_v2)>(next("cuMemAlloc_v2"))(place, size);
}

/* One that calls another one of its own, and an unlisted one of the driver's. */
SHOWN CUresult cuMemAllocPitch_v2(CUdeviceptr *place, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocPitch_v2(CUdeviceptr *place, size_t *pitch, size_t width, size_t height, unsigned)
{
    called() += " cuMemAllocPitch_v2";
    *pitch = width;
    reinterpret_cast<decltype(&cuCtxSynchronize)>(next("cuCtxSynchronize"))();
    return cuMemAlloc_v2(place, width * height);
}

GOES_ON(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size), (to, from, size))
GOES_ON(cuStreamSynchronize, (CUstream stream), (stream))
GOES_ON(cuLaunchKernel,
        (CUfunction f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
         CUstream stream, void **parameters, void **extra),
        (f, x, y, z, bx, by, bz, shared, stream, parameters, extra))

#if defined(HOOK_DLSYM) || defined(HOOK_PROC)
static void *own(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } all[] = {{"cuMemAlloc_v2", reinterpret_cast<void *>(&cuMemAlloc_v2)},
               {"cuMemcpyHtoD_v2", reinterpret_cast<void *>(&cuMemcpyHtoD_v2)},
               {"cuLaunchKernel", reinterpret_cast<void *>(&cuLaunchKernel)}};
    for (const auto &one : all)
        if (strcmp(one.name, name) == 0)
            return one.function;
    return nullptr;
}
#endif

#ifdef HOOK_PROC
SHOWN CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                                   CUdriverProcAddressQueryResult *status);
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    called() += " cuGetProcAddress_v2";
    auto ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(next("cuGetProcAddress_v2"));
    CUresult result = ask(name, function, version, flags, status);
    void *mine = own((std::string(name) + (strncmp(name, "cuMem", 5) == 0 ? "_v2" : "")).c_str());
    if (result == CUDA_SUCCESS && mine)
        *function = mine;
    return result;
}
#endif

#ifdef HOOK_DLSYM
SHOWN void *dlsym(void *handle, const char *name) noexcept;
void *dlsym(void *handle, const char *name) noexcept
{
    static Lookup real;
    if (!real)
        real = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", FIRST_GLIBC));
    void *mine = handle == RTLD_NEXT ? nullptr : own(name);
#ifdef HOOK_PROC
    if (strcmp(name, "cuGetProcAddress_v2") == 0 && handle != RTLD_NEXT)
        mine = reinterpret_cast<void *>(&cuGetProcAddress_v2);
#endif
#ifdef BY_SCOPE
    if (!mine && strncmp(name, "cu", 2) == 0)
        mine = real(RTLD_DEFAULT, name);
#endif
    return mine ? mine : real(handle, name);
}
#endif
