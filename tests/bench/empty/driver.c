/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcuda.so.1 in which every function returns at once: what a call costs under the shim is then the shim's alone,
 * without the driver's own variation of hundreds of nanoseconds. For scripts/bench. Nothing works on it.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/api/cuda_abi.h"

#define EXPORT __attribute__((visibility("default"), noinline))
#define EMPTY(function, params) \
    EXPORT CUresult function params \
    { \
        return CUDA_SUCCESS; \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Those that programs and the shim need an answer from have a body below. */
#define cuInit empty_cuInit
#define cuStreamCreate empty_cuStreamCreate
#define cuEventCreate empty_cuEventCreate
#define cuMemAlloc_v2 empty_cuMemAlloc_v2
#define cuMemHostAlloc empty_cuMemHostAlloc
#define cuMemFreeHost empty_cuMemFreeHost
#define cuDevicePrimaryCtxRetain empty_cuDevicePrimaryCtxRetain
#define cuCtxCreate_v2 empty_cuCtxCreate_v2
#define cuCtxDestroy_v2 empty_cuCtxDestroy_v2
#define cuModuleLoadData empty_cuModuleLoadData
#define cuModuleGetFunction empty_cuModuleGetFunction
#define cuGetProcAddress_v2 empty_cuGetProcAddress_v2
#define API(symbol, since, route, class_, timing, told, params, ...) EMPTY(symbol, params)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, ...) \
    EMPTY(symbol, params) EMPTY(symbol##_ptsz, params)
#define API_PTDS(symbol, since, twin_since, form, class_, timing, told, params, ...) \
    EMPTY(symbol, params) EMPTY(symbol##_ptds, params)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "interpose/api/api.def"
#undef cuInit
#undef cuStreamCreate
#undef cuEventCreate
#undef cuMemAlloc_v2
#undef cuMemHostAlloc
#undef cuMemFreeHost
#undef cuDevicePrimaryCtxRetain
#undef cuCtxCreate_v2
#undef cuCtxDestroy_v2
#undef cuModuleLoadData
#undef cuModuleGetFunction
#undef cuGetProcAddress_v2

/* Loads a tool as the driver does, so that what is measured with one can be tried without a GPU. */
EXPORT CUresult cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialise)(void) = NULL;
    if (library)
        *(void **)&initialise = dlsym(library, "InitializeInjection");
    if (initialise)
        initialise();
    return CUDA_SUCCESS;
}

/* Handles and addresses are numbers that nobody looks behind. */
static uint64_t fresh(void)
{
    static uint64_t last = 0x10000;
    return __atomic_add_fetch(&last, 0x1000, __ATOMIC_RELAXED);
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    *stream = (CUstream)fresh();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    *event = (CUevent)fresh();
    return CUDA_SUCCESS;
}

/* No two allocations have a byte in common, so that each pointer is one into its own. */
static uint64_t room(size_t size)
{
    static uint64_t used = 0x10000;
    uint64_t bytes = (size + 0x1fff) & ~(uint64_t)0xfff; /* with a page between */
    return __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t size)
{
    *memory = 0x7f0000000000u + room(size);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    *memory = calloc(1, size); /* the shim looks at what is copied from there */
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeHost(void *memory)
{
    free(memory);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)0x1000;
    return CUDA_SUCCESS;
}

/* Of all threads: only who makes contexts has others than that one. */
static CUcontext current = (CUcontext)0x1000;

EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    *context = current = (CUcontext)fresh();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context)
{
    return cuDevicePrimaryCtxRetain(&current, 0);
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    *module = (CUmodule)fresh();
    return CUDA_SUCCESS;
}

enum { FOUR = 4, TAKES_FOUR = 0x10 }; /* a bit of the kernel's handle */

/* The names of the last functions: by them the shim finds their code. */
enum { NAMED = 256, NAME = 64 };
static struct {
    CUfunction function;
    char name[NAME];
} named[NAMED];
static unsigned named_count;

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    unsigned i = __atomic_fetch_add(&named_count, 1, __ATOMIC_RELAXED) % NAMED;
    *function = (CUfunction)(fresh() | (strcmp(name, "four_pointers") == 0 ? TAKES_FOUR : 0));
    named[i].function = *function;
    strncpy(named[i].name, name, NAME - 1);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetName(const char **name, CUfunction function)
{
    for (unsigned i = 0; i < NAMED; i++) {
        if (named[i].function == function) {
            *name = named[i].name;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    *value = 32;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    *(unsigned *)data = CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = "of the empty driver";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    if (!((uint64_t)function & TAKES_FOUR) || index >= FOUR)
        return CUDA_ERROR_INVALID_VALUE; /* it has no such parameter */
    *offset = index * sizeof(CUdeviceptr);
    *size = sizeof(CUdeviceptr);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    static const struct {
        const char *name;
        void *function;
    } all[] = {
#define API(symbol, ...) {#symbol, (void *)symbol},
#define API_PTSZ(symbol, ...) {#symbol, (void *)symbol},
#define API_PTDS(symbol, ...) {#symbol, (void *)symbol},
#include "interpose/api/api.def"
    };
    *function = NULL;
    if (status)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    size_t length = strlen(symbol);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strncmp(all[i].name, symbol, length) == 0 && (!all[i].name[length] || strcmp(all[i].name + length, "_v2") == 0))
            *function = all[i].function;
    }
    if (strcmp(symbol, "cuPointerGetAttribute") == 0)
        *function = (void *)cuPointerGetAttribute;
    if (strcmp(symbol, "cuDeviceGetAttribute") == 0)
        *function = (void *)cuDeviceGetAttribute;
    if (strcmp(symbol, "cuCtxGetCurrent") == 0)
        *function = (void *)cuCtxGetCurrent;
    return CUDA_SUCCESS;
}
