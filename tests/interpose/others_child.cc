/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is linked with the driver, beside a library that stands in front of it (quota.cc). Calls the same
 * functions through each door and prints the result, which of that library's functions were called, and how often the
 * driver was:
 *
 *     DOOR FUNCTION: RESULT, quota: FUNCTIONS, driver: TIMES
 *
 * Each door in a thread of its own where there is an argument.
 */
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <thread>

#include "tests/interpose/child_log.h"

namespace
{

const char *(*quota_take)();
CUdeviceptr memory;
size_t pitch;
char bytes[64];

template <class Function> Function *as(void *found)
{
    return reinterpret_cast<Function *>(found);
}

struct Functions {
    const char *door;
    void *(*find)(const char *name);
};

void *linked(const char *name)
{
    static const struct {
        std::string name;
        void *function;
    } all[] = {
#define LINKED(function) {#function, reinterpret_cast<void *>(&function)}
        LINKED(cuMemAlloc_v2),       LINKED(cuMemAllocPitch_v2), LINKED(cuMemFree_v2),   LINKED(cuMemcpyHtoD_v2),
        LINKED(cuStreamSynchronize), LINKED(cuLaunchKernel),     LINKED(cuMemcpyDtoH_v2)};
    for (const auto &one : all)
        if (one.name == name)
            return one.function;
    return nullptr;
}

void *by_default(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *handle(const char *name)
{
    return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

void *asked(decltype(&cuGetProcAddress_v2) ask, const std::string &name)
{
    void *found = nullptr;
    std::string base = name.substr(0, name.find("_v2"));
    return ask(base.c_str(), &found, 13000, 0, nullptr) == CUDA_SUCCESS ? found : nullptr;
}

void *proc(const char *name)
{
    return asked(&cuGetProcAddress_v2, name);
}

void *handle_proc(const char *name)
{
    return asked(as<decltype(cuGetProcAddress_v2)>(handle("cuGetProcAddress_v2")), name);
}

const Functions doors[] = {{"linked", linked}, {"default", by_default}, {"next", next},
                           {"handle", handle}, {"proc", proc},          {"handle proc", handle_proc}};

/* How often the driver was asked for it, by this name or what may stand for it. */
int times(const std::string &name)
{
    static fake_entry entries[1 << 12];
    size_t count = fake_log_take(entries, sizeof entries / sizeof entries[0]);
    std::string stem = name.substr(0, name.find("_v2"));
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found += std::string(entries[i].symbol).compare(0, stem.size(), stem) == 0;
    return found;
}

template <class Call> void show(const Functions &functions, const char *name, Call call)
{
    void *found = functions.find(name);
    if (quota_take)
        quota_take();
    times(name);
    CUresult result = found ? call(found) : CUDA_ERROR_NOT_FOUND;
    std::string of_quota = quota_take ? quota_take() : "";
    printf("%s %s: %d, quota:%s, driver: %d\n", functions.door, name, result, of_quota.c_str(), times(name));
}

void through(const Functions &functions)
{
    show(functions, "cuMemAlloc_v2", [](void *f) { return as<decltype(cuMemAlloc_v2)>(f)(&memory, 64); });
    show(functions, "cuMemcpyHtoD_v2", [](void *f) { return as<decltype(cuMemcpyHtoD_v2)>(f)(memory, bytes, 64); });
    show(functions, "cuMemcpyDtoH_v2", [](void *f) { return as<decltype(cuMemcpyDtoH_v2)>(f)(bytes, memory, 64); });
    show(functions, "cuLaunchKernel",
         [](void *f) { return as<decltype(cuLaunchKernel)>(f)(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); });
    show(functions, "cuStreamSynchronize", [](void *f) { return as<decltype(cuStreamSynchronize)>(f)(nullptr); });
    show(functions, "cuMemFree_v2", [](void *f) { return as<decltype(cuMemFree_v2)>(f)(memory); });
    show(functions, "cuMemAllocPitch_v2",
         [](void *f) { return as<decltype(cuMemAllocPitch_v2)>(f)(&memory, &pitch, 8, 8, 4); });
    show(functions, "cuMemAlloc_v2", [](void *f) { return as<decltype(cuMemAlloc_v2)>(f)(&memory, 64 << 20); });
}

} // namespace

int main(int argc, char **)
{
    CUcontext context;
    *reinterpret_cast<void **>(&quota_take) = dlsym(RTLD_DEFAULT, "quota_take");
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 2;
    for (const Functions &functions : doors) {
        if (argc < 2) {
            through(functions);
            continue;
        }
        std::thread([&] {
            cuCtxSetCurrent(context);
            through(functions);
        }).join();
    }
    return 5;
}
