/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries and CUkernel handles, which the runtime library uses in place of modules and functions: the same kernels
 * behind other handles. Called by programs and, for launches, through function_of.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

struct kernel_handle {
    struct function *function;
    struct library *library;
    struct kernel_handle *next;
};

struct library {
    struct module *module;
    struct kernel_handle *kernels;
};

struct function *function_of(CUfunction handle)
{
    if (handle_is(handle, HANDLE_FUNCTION))
        return (struct function *)handle;
    return handle_is(handle, HANDLE_KERNEL) ? ((struct kernel_handle *)handle)->function : NULL;
}

CUresult impl_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                                unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                unsigned int numLibraryOptions)
{
    CUmodule module;
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = impl_cuModuleLoadDataEx(&module, code, numJitOptions, jitOptions, jitOptionsValues);
    if (result != CUDA_SUCCESS)
        return result;
    struct library *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    l->module = (struct module *)module;
    sim_lock();
    handle_add(l, HANDLE_LIBRARY);
    sim_unlock();
    *library = (CUlibrary)l;
    return CUDA_SUCCESS;
}

CUresult impl_cuLibraryUnload(CUlibrary library)
{
    struct library *l = (struct library *)library;
    sim_lock();
    bool live = handle_is(l, HANDLE_LIBRARY);
    sim_unlock();
    if (!live)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = impl_cuModuleUnload((CUmodule)l->module);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    handle_remove(l);
    for (struct kernel_handle *k = l->kernels, *next; k; k = next) {
        next = k->next;
        handle_remove(k);
        free(k);
    }
    free(l);
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    sim_lock();
    bool live = pMod && handle_is(library, HANDLE_LIBRARY);
    if (live)
        *pMod = (CUmodule)((struct library *)library)->module;
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult impl_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    if (!name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (handle_is(library, HANDLE_LIBRARY))
        result = module_variable(((struct library *)library)->module, name, dptr, bytes);
    sim_unlock();
    return result;
}

/* Locked. One handle a kernel. */
static struct kernel_handle *kernel_of(struct library *l, const char *name)
{
    struct function *f = module_function(l->module, name);
    if (!f)
        return NULL;
    for (struct kernel_handle *k = l->kernels; k; k = k->next)
        if (k->function == f)
            return k;
    struct kernel_handle *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    *k = (struct kernel_handle){f, l, l->kernels};
    l->kernels = k;
    handle_add(k, HANDLE_KERNEL);
    return k;
}

CUresult impl_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    if (!pKernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (handle_is(library, HANDLE_LIBRARY)) {
        struct kernel_handle *k = kernel_of((struct library *)library, name);
        result = k ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
        if (k)
            *pKernel = (CUkernel)k;
    }
    sim_unlock();
    return result;
}

#define WITH_KERNEL(kernel, good, statement) \
    CUresult result = CUDA_ERROR_INVALID_HANDLE; \
    sim_lock(); \
    if (handle_is(kernel, HANDLE_KERNEL)) { \
        struct kernel_handle *k = (struct kernel_handle *)kernel; \
        result = (good) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; \
        if (result == CUDA_SUCCESS) { \
            statement; \
        } \
    } \
    sim_unlock(); \
    return result;

CUresult impl_cuKernelGetName(const char **name, CUkernel hfunc){WITH_KERNEL(hfunc, name, *name = k->function->name)}

CUresult impl_cuKernelGetFunction(CUfunction *pFunc,
                                  CUkernel kernel){WITH_KERNEL(kernel, pFunc, *pFunc = (CUfunction)k->function)}

CUresult impl_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel){WITH_KERNEL(kernel, pLib, *pLib = (CUlibrary)k->library)}

CUresult impl_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize){
    WITH_KERNEL(kernel, paramOffset &&paramIndex < k->function->parameter_count,
                {
                    *paramOffset = k->function->parameters[paramIndex].offset;
                    if (paramSize)
                        *paramSize = k->function->parameters[paramIndex].size;
                })}

CUresult impl_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    (void)dev;
    WITH_KERNEL(kernel, pi && attrib < CU_FUNC_ATTRIBUTE_MAX, *pi = k->function->attributes[attrib])
}

CUresult impl_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    (void)dev;
    WITH_KERNEL(kernel, attrib < CU_FUNC_ATTRIBUTE_MAX, k->function->attributes[attrib] = val)
}

CUresult impl_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    (void)dev;
    WITH_KERNEL(kernel, config <= CU_FUNC_CACHE_PREFER_EQUAL, (void)k)
}
