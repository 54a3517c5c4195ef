/* SPDX-License-Identifier: Apache-2.0
 *
 * The cuGetProcAddress door. The driver has answered already; names, versions, flags and errors are its business. Only the
 * address is looked up. Called by the wrappers of both versions after the call.
 */
#include "interpose/doors/lookup/procaddress.h"

#include "interpose/doors/door.h"
#include "interpose/doors/lookup/untabled.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/state/call.h"

/* What the driver gives for the same name and version when asked for the other kind; NULL for an error. Asked of whichever
 * version of cuGetProcAddress this driver has. */
static void *ask(const char *symbol, int cuda_version, cuuint64_t flags)
{
    void *found = NULL;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (REAL(cuGetProcAddress_v2))
        result = REAL(cuGetProcAddress_v2)(symbol, &found, cuda_version, flags, NULL);
    else if (REAL(cuGetProcAddress))
        result = REAL(cuGetProcAddress)(symbol, &found, cuda_version, flags);
    return result == CUDA_SUCCESS ? found : NULL;
}

/* Two answers for one name mean that it treats the default stream: for all 450 base names of CUDA 13.0 they differ for
 * exactly the 84 that have a twin (measured). */
static void *unknown(const char *symbol, void *function, int cuda_version, cuuint64_t flags, const void *caller)
{
    void *legacy = ask(symbol, cuda_version, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    void *twin = ask(symbol, cuda_version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    if (!legacy || !twin || legacy == twin)
        return function;
    int is_twin = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    return untabled_answer(&(struct untabled){symbol, legacy, twin, is_twin, cuda_version}, caller);
}

/* Which row another library's function stands for, its name does not say: the driver's own answer does. */
static void *others(const char *symbol, void *function, int cuda_version, cuuint64_t flags, const void *caller)
{
    int twin = 0;
    void *own = others_look() ? ask(symbol, cuda_version, flags) : NULL;
    return own ? door_others(function, driver_row(own, &twin), twin, caller) : function;
}

void procaddress_answer(struct call *C, const char *symbol, void **function, int cuda_version, cuuint64_t flags)
{
    int twin;
    if (C->result != CUDA_SUCCESS || !function || !*function)
        return;
    if (!C->other)
        driver_answered(*function);
    if (!driver_owns(*function))
        *function = others(symbol, *function, cuda_version, flags, C->caller);
    else if (driver_row(*function, &twin) >= 0)
        *function = door_answer(*function, C->caller);
    else
        *function = unknown(symbol, *function, cuda_version, flags, C->caller);
}
