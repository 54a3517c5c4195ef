/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGetProcAddress, both ABIs, by the rules measured on real drivers: bare names only; of the ABIs of a name the newest
 * that is not newer than the asked version; with the per-thread flag the twins only, where the name has any. Must never
 * return what the knobs hide.
 */
#include <string.h>

#include "tests/sim/sim.h"

/* "cuMemAlloc" of cuMemAlloc, cuMemAlloc_v2, cuMemcpyHtoD_v2_ptds. */
static size_t base_length(const struct entry *e)
{
    size_t length = strlen(e->symbol) - (e->twin ? strlen("_ptsz") : 0);
    if (length > 3 && e->symbol[length - 3] == '_' && e->symbol[length - 2] == 'v')
        length -= 3;
    return length;
}

static void *find(const char *name, int version, bool per_thread, CUdriverProcAddressQueryResult *why)
{
    const struct entry *best = NULL;
    bool known = false, any_twin = false;
    size_t length = strlen(name);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < sim_entry_count; i++) {
            const struct entry *e = &sim_entries[i];
            if (e->hidden || base_length(e) != length || memcmp(e->symbol, name, length) != 0)
                continue;
            known = true;
            if (pass == 0)
                any_twin = any_twin || e->twin;
            else if (e->twin == (per_thread && any_twin) && e->since <= version && (!best || e->since > best->since))
                best = e;
        }
    *why = best    ? CU_GET_PROC_ADDRESS_SUCCESS
           : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return best ? best->address : NULL;
}

/* A version above the driver's: refused by 580 (13.0), taken by 470 to 555. */
static bool bad_request(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    return !symbol || !pfn || flags > 3 || (knob_driver_version() >= 13000 && version > knob_driver_version());
}

static bool per_thread(cuuint64_t flags)
{
    return (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
}

CUresult impl_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult why;
    if (bad_request(symbol, pfn, cudaVersion, flags))
        return CUDA_ERROR_INVALID_VALUE;
    void *found = find(symbol, cudaVersion, per_thread(flags), &why);
    if (!found)
        return CUDA_ERROR_NOT_FOUND;
    *pfn = found;
    return CUDA_SUCCESS;
}

CUresult impl_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    CUdriverProcAddressQueryResult why;
    if (bad_request(symbol, pfn, cudaVersion, flags))
        return CUDA_ERROR_INVALID_VALUE;
    *pfn = find(symbol, cudaVersion, per_thread(flags), &why);
    if (symbolStatus)
        *symbolStatus = why;
    return CUDA_SUCCESS;
}

CUresult impl_cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = knob_driver_version();
    return CUDA_SUCCESS;
}

/* The private tables that the runtime library asks for are not simulated. */
CUresult impl_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
