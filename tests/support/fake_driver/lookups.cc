/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver exports beside the table's rows, and its cuGetProcAddress: bare names, of a name's versions the
 * newest that is not newer than asked for, twins only for the per-thread flag where the name has any.
 */
#include "tests/support/fake_driver/state.h"
#include "tests/support/fake_driver/visible.h"

using fake::note_query;

#define EXPORT extern "C" FAKE_SHOWN

EXPORT CUresult cuDriverGetVersion(int *version)
{
    *version = FAKE_VERSION;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = fake::current();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active)
{
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    note_query("cuPointerGetAttribute");
    if (attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE || pointer < FAKE_PINNED_MEMORY || pointer >= 2 * FAKE_DEVICE_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    *static_cast<unsigned *>(data) = pointer >= FAKE_DEVICE_MEMORY ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
}

extern "C" SINCE_12040 CUresult cuFuncGetParamInfo(CUfunction, size_t, size_t *, size_t *)
{
    note_query("cuFuncGetParamInfo");
    return CUDA_ERROR_INVALID_VALUE;
}

extern "C" SINCE_12040 CUresult cuKernelGetParamInfo(CUkernel, size_t, size_t *, size_t *)
{
    note_query("cuKernelGetParamInfo");
    return CUDA_ERROR_INVALID_VALUE;
}

extern "C" SINCE_12030 CUresult cuFuncGetName(const char **name, CUfunction)
{
    note_query("cuFuncGetName");
    *name = "fake_kernel";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorString(CUresult, const char **text)
{
    *text = "an error";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *)
{
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

/* Functions of a driver newer than the table. */
EXPORT CUresult cuFutureAsync(CUstream stream);
EXPORT CUresult cuFutureAsync_ptsz(CUstream stream);
EXPORT CUresult cuFutureQuery(int value);

CUresult cuFutureAsync(CUstream stream)
{
    fake::note({"cuFutureAsync", 1, {stream}, nullptr});
    return CUDA_SUCCESS;
}

CUresult cuFutureAsync_ptsz(CUstream stream)
{
    fake::note({"cuFutureAsync_ptsz", 1, {stream}, nullptr});
    return CUDA_SUCCESS;
}

CUresult cuFutureQuery(int)
{
    return CUDA_SUCCESS;
}

/* What else the stub names; others.S answers where nobody here does. */
#define OTHER(symbol) extern "C" void other_##symbol() __asm__(#symbol);
#include "tests/support/fake_driver/others.inc"
#undef OTHER

namespace
{

struct Export {
    const char *symbol;
    int since;
    bool twin;
    void *address;

    bool absent() const
    {
        return since > FAKE_VERSION;
    }

    /* A rough guess for those that the table does not know. */
    int first() const
    {
        return since ? since : base_length() == strlen(symbol) ? 2000 : 3020;
    }

    /* "cuMemAlloc" of cuMemAlloc, cuMemAlloc_v2, cuMemcpyHtoD_v2_ptds. */
    size_t base_length() const
    {
        size_t length = strlen(symbol) - (twin ? strlen("_ptsz") : 0);
        return symbol[length - 3] == '_' && symbol[length - 2] == 'v' ? length - 3 : length;
    }
};

#define ADDRESS(symbol) reinterpret_cast<void *>(&symbol)
#define OTHER(symbol, since) {#symbol, since, false, ADDRESS(symbol)},
const Export exports[] = {
#define API(symbol, since, ...) {#symbol, since, false, ADDRESS(symbol)},
#define API_PTSZ(symbol, since, twin_since, ...) \
    {#symbol, since, false, ADDRESS(symbol)}, {#symbol "_ptsz", twin_since, true, ADDRESS(symbol##_ptsz)},
#define API_PTDS(symbol, since, twin_since, ...) \
    {#symbol, since, false, ADDRESS(symbol)}, {#symbol "_ptds", twin_since, true, ADDRESS(symbol##_ptds)},
#include "interpose/api/api.def"
    OTHER(cuDriverGetVersion, 2020) OTHER(cuCtxGetCurrent, 4000) OTHER(cuCtxGetDevice, 2000) OTHER(cuDeviceGet, 2000)
        OTHER(cuDeviceGetCount, 2000) OTHER(cuDevicePrimaryCtxGetState, 7000) OTHER(cuPointerGetAttribute, 4000)
            OTHER(cuFuncGetParamInfo, 12040) OTHER(cuKernelGetParamInfo, 12040) OTHER(cuFuncGetName, 12030)
                OTHER(cuGetErrorString, 6000) OTHER(cuGetExportTable, 3000) OTHER(cuFutureAsync, 7000)
                    OTHER(cuFutureQuery, 7000){"cuFutureAsync_ptsz", 7000, true, ADDRESS(cuFutureAsync_ptsz)},
#undef OTHER
#define OTHER(symbol) {#symbol, 0, false, reinterpret_cast<void *>(&other_##symbol)},
#include "tests/support/fake_driver/others.inc"
};

/* The table knows it too, and better. */
bool is_again(const Export &other)
{
    for (const Export &e : exports) {
        if (&e == &other)
            return false;
        if (strcmp(e.symbol, other.symbol) == 0)
            return true;
    }
    return false;
}

} // namespace

CUdriverProcAddressQueryResult fake::look_up(const char *name, int version, unsigned long long flags, void **found)
{
    const Export *best = nullptr;
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, known = false, any_twin = false;
    size_t length = strlen(name);
    auto fits = [&](const Export &e) {
        return !e.absent() && e.base_length() == length && memcmp(e.symbol, name, length) == 0 && !is_again(e);
    };
    for (const Export &e : exports) {
        known = known || fits(e);
        any_twin = any_twin || (fits(e) && e.twin);
    }
    for (const Export &e : exports) {
        if (fits(e) && e.twin == (per_thread && any_twin) && e.first() <= version && (!best || e.first() > best->first()))
            best = &e;
    }
    *found = best ? best->address : nullptr;
    note_lookup(name, version, flags, best ? best->symbol : "absent");
    return best    ? CU_GET_PROC_ADDRESS_SUCCESS
           : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

EXPORT void *fake_address(const char *symbol)
{
    for (const Export &e : exports) {
        if (strcmp(e.symbol, symbol) == 0)
            return e.absent() ? nullptr : e.address;
    }
    return nullptr;
}
