/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is not linked with the driver and looks everything up. Prints what each look-up gave, by the name of the
 * symbol at that address, so that the output with the shim can be compared with the output without.
 *
 *     loader_child handles LOCAL|GLOBAL|ABSENT     dlsym and dlvsym in every scope, with dlerror
 *     loader_child scopes                          the same in the program's scopes, where the driver is in none
 *     loader_child whose                           of which library what the program's scope has is
 *     loader_child versions                        dlvsym with a version that nobody has
 *     loader_child proc                            cuGetProcAddress
 *     loader_child future                          a function that the table does not know: what was handed out
 *     loader_child trampoline PATH                 a library that only looks like a driver
 *     loader_child plugin PATH                     look-ups from a library with the driver in its own scope
 *     loader_child nothing                         no CUDA at all
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>

extern "C" {
#include "interpose/api/cuda_abi.h"
#include "interpose/base/first_glibc.h"
void *old_dlsym(void *, const char *);
void *old_dlvsym(void *, const char *, const char *);
}
__asm__(".symver old_dlsym,dlsym@" FIRST_GLIBC);
__asm__(".symver old_dlvsym,dlvsym@" FIRST_GLIBC);

namespace
{

void *driver;

std::string symbol_at(const void *address)
{
    Dl_info info;
    if (!address)
        return "nothing";
    if (!dladdr(address, &info) || !info.dli_sname || info.dli_saddr != address)
        return "somewhere";
    return info.dli_sname;
}

/* The library is left out: the same symbol of the shim is what the shim should give. */
void show(const char *how, const char *name, const void *found)
{
    const char *error = dlerror();
    printf("%s \"%s\": %s%s%s\n", how, name, symbol_at(found).c_str(), error ? "; " : "", error ? error : "");
    if (dlerror())
        printf("a second error\n");
}

const char *const asked[] = {
    "cuInit",
    "cuLaunchKernel",
    "cuLaunchKernel_ptsz",
    "cuLaunchKernelEx",
    "cuMemcpyHtoD_v2",
    "cuMemcpyHtoD",
    "cuMemcpyHtoD_v2_ptds",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuStreamGetDevice",
    "cuFutureQuery",
    "cuNoSuchFunction",
    "cuNoSuch_ptsz",
    "cublasCreate",
    "cu",
    "no_such_function",
    "printf",
    "",
};

void in_scope(const char *scope, void *handle)
{
    for (const char *name : asked) {
        std::string how = scope;
        show((how + " dlsym").c_str(), name, dlsym(handle, name));
        show((how + " dlsym@2.2.5").c_str(), name, old_dlsym(handle, name));
        show((how + " dlvsym").c_str(), name, dlvsym(handle, name, "FAKE_DRIVER"));
        show((how + " dlvsym@2.2.5").c_str(), name, old_dlvsym(handle, name, "FAKE_DRIVER"));
    }
}

void in_programs_scopes()
{
    in_scope("default", RTLD_DEFAULT);
    in_scope("next", RTLD_NEXT);
    in_scope("program", dlopen(nullptr, RTLD_NOW));
}

/* Versions that nobody has. */
int versions()
{
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    for (const char *name : asked) {
        show("handle", name, dlvsym(driver, name, "NO_SUCH_VERSION"));
        show("default", name, dlvsym(RTLD_DEFAULT, name, "NO_SUCH_VERSION"));
        show("next", name, dlvsym(RTLD_NEXT, name, "NO_SUCH_VERSION"));
    }
    return 0;
}

int handles(const std::string &mode)
{
    if (mode != "ABSENT" && !(driver = dlopen("libcuda.so.1", RTLD_NOW | (mode == "GLOBAL" ? RTLD_GLOBAL : RTLD_LOCAL))))
        return 2;
    if (driver)
        in_scope("handle", driver);
    if (mode == "LOCAL")
        return 0;
    in_programs_scopes();
    return 0;
}

int whose()
{
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    for (const char *name : {"cuInit", "cuMemcpyHtoD_v2", "cuStreamSynchronize"}) {
        for (void *scope : {RTLD_DEFAULT, RTLD_NEXT, dlopen(nullptr, RTLD_NOW)}) {
            void *found = dlsym(scope, name);
            Dl_info info;
            printf("%s: %s\n", name, found && dladdr(found, &info) ? strrchr(info.dli_fname, '/') : "nothing");
        }
    }
    return driver == nullptr;
}

int proc()
{
    static const struct {
        const char *name;
        int version;
    } names[] = {{"", 0},
                 {"cuInit", 2000},
                 {"cuInit", 0},
                 {"cuLaunchKernel", 4000},
                 {"cuLaunchKernel", 7000},
                 {"cuLaunchKernel", 3000},
                 {"cuMemcpyHtoD", 2000},
                 {"cuMemcpyHtoD", 3020},
                 {"cuMemcpyHtoD", 99999},
                 {"cuMemcpyHtoD_v2", 13000},
                 {"cuLaunchKernel_ptsz", 13000},
                 {"cuGetProcAddress", 11030},
                 {"cuGetProcAddress", 12000},
                 {"cuGetProcAddress", 13000},
                 {"cuGetProcAddress", 2000},
                 {"cuDriverGetVersion", 13000},
                 {"cuFutureQuery", 13000},
                 {"cuNoSuchFunction", 13000}};
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto v1 = (decltype(&cuGetProcAddress))dlsym(driver, "cuGetProcAddress");
    auto v2 = (decltype(&cuGetProcAddress_v2))dlsym(driver, "cuGetProcAddress_v2");
    for (const auto &ask : names) {
        for (cuuint64_t flags = 0; flags < 3; flags++) {
            void *found = (void *)&names;
            CUresult result = v1 ? v1(ask.name, &found, ask.version, flags) : CUDA_ERROR_NOT_FOUND;
            printf("v1 \"%s\" %d %llu: %d %s\n", ask.name, ask.version, (unsigned long long)flags, result,
                   symbol_at(found).c_str());
            int status = 7; /* no value of the enum: seen if nobody writes it */
            found = (void *)&names;
            result = v2 ? v2(ask.name, &found, ask.version, flags, (CUdriverProcAddressQueryResult *)&status)
                        : CUDA_ERROR_NOT_FOUND;
            printf("v2 \"%s\" %d %llu: %d %s %d\n", ask.name, ask.version, (unsigned long long)flags, result,
                   symbol_at(found).c_str(), status);
            found = (void *)&names;
            result = v2 ? v2(ask.name, &found, ask.version, flags, nullptr) : CUDA_ERROR_NOT_FOUND;
            printf("v2 \"%s\" %d %llu, no status: %d %s\n", ask.name, ask.version, (unsigned long long)flags, result,
                   symbol_at(found).c_str());
        }
    }
    if (v2)
        printf("no name: %d, no place: %d\n", v2(nullptr, (void **)&driver, 12000, 0, nullptr),
               v2("cuInit", nullptr, 12000, 0, nullptr));
    return 0;
}

int future()
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto ask = (decltype(&cuGetProcAddress_v2))dlsym(driver, "cuGetProcAddress_v2");
    show("dlsym", "cuFutureAsync", dlsym(driver, "cuFutureAsync"));
    show("dlsym", "cuFutureAsync_ptsz", dlsym(driver, "cuFutureAsync_ptsz"));
    show("dlvsym", "cuFutureAsync", dlvsym(driver, "cuFutureAsync", "FAKE_DRIVER"));
    for (cuuint64_t flags = 0; flags < 3; flags++) {
        void *found = nullptr;
        ask("cuFutureAsync", &found, 13000, flags, nullptr);
        printf("proc %llu: %s\n", (unsigned long long)flags, symbol_at(found).c_str());
    }
    show("dlsym", "cuFutureQuery", dlsym(driver, "cuFutureQuery"));
    /* A record begins with the first call that does something. */
    CUcontext context;
    auto create = (decltype(&cuCtxCreate_v2))dlsym(driver, "cuCtxCreate_v2");
    return create(&context, 0, 0);
}

int trampoline(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 2;
    for (const char *name : {"cuInit", "cuLaunchKernel", "cuMemcpyHtoD_v2", "cuStreamSynchronize"}) {
        void *found = dlsym(library, name);
        Dl_info info;
        printf("%s: %s\n", name, found && dladdr(found, &info) ? strrchr(info.dli_fname, '/') : "nothing");
    }
    auto init = (decltype(&cuInit))dlsym(library, "cuInit");
    printf("cuInit gives %d\n", init(0));
    return 0;
}

int plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto find = (void *(*)(int, const char *))(library ? dlsym(library, "plugin_find") : nullptr);
    if (!find) {
        printf("%s\n", dlerror());
        return 2;
    }
    for (const char *name : {"cuInit", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuFutureQuery", "plugin_own",
                             "cuPluginOwn", "cuNoSuchFunction", "printf"}) {
        show("default", name, find(0, name));
        show("next", name, find(1, name));
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "nothing", argument = argc > 2 ? argv[2] : "";
    if (mode == "handles")
        return handles(argument);
    if (mode == "scopes") {
        if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
            return 2;
        in_programs_scopes();
    }
    if (mode == "whose")
        return whose();
    if (mode == "versions")
        return versions();
    if (mode == "proc")
        return proc();
    if (mode == "future")
        return future();
    if (mode == "trampoline")
        return trampoline(argument.c_str());
    if (mode == "plugin")
        return plugin(argument.c_str());
    return 0;
}
