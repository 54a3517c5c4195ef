/* SPDX-License-Identifier: Apache-2.0
 *
 * cuModule... and cuFunc...: loading and unloading wait for everything in the context, as measured. Called by programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim.h"

/* SIM_LOAD_HOLDS: not done for as long as a load waits. */
static struct op *load_in_progress;
enum { AFTER_A_LOAD_NS = 1000000 };

static void wait_as_a_load(struct context *ctx)
{
    struct work nothing = {.kind = WORK_NONE};
    module_load_over();
    struct op *load = knob_load_holds() ? op_hold(op_new(&nothing)) : NULL;
    load_in_progress = load;
    context_synchronize(ctx);
    if (!load)
        return;
    load_in_progress = NULL;
    op_submit(load);
    op_release(load);
    sim_unlock(); /* the others go on before the load returns */
    nanosleep(&(struct timespec){0, AFTER_A_LOAD_NS}, NULL);
    sim_lock();
}

void module_load_over(void)
{
    while (load_in_progress)
        op_wait(load_in_progress);
}

CUresult impl_cuModuleLoadData(CUmodule *module, const void *image)
{
    struct context *ctx;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS) { /* a capture does not mind loading, but unloading */
        wait_as_a_load(ctx);
        struct module *m = module_parse(ctx, image);
        if (m && m->text->memory_bytes && !m->memory) {
            module_free(m);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        } else if (m) {
            handle_add(m, HANDLE_MODULE);
            *module = (CUmodule)m;
        } else {
            result = CUDA_ERROR_INVALID_PTX;
        }
    }
    sim_unlock();
    return result;
}

CUresult impl_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                                 void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues; /* options of a compiler that is not here */
    return impl_cuModuleLoadData(module, image);
}

CUresult impl_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return impl_cuModuleLoadData(module, fatCubin);
}

CUresult impl_cuModuleLoad(CUmodule *module, const char *fname)
{
    FILE *f = fname ? fopen(fname, "rb") : NULL;
    char *image = calloc(1, (16u << 20) + 1);
    CUresult result = CUDA_ERROR_FILE_NOT_FOUND;
    if (f && image && fread(image, 1, 16u << 20, f) > 0)
        result = impl_cuModuleLoadData(module, image);
    if (f)
        fclose(f);
    free(image);
    return result;
}

CUresult impl_cuModuleUnload(CUmodule hmod)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && !handle_is(hmod, HANDLE_MODULE))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS) {
        handle_remove(hmod);
        context_synchronize(ctx);
        module_free((struct module *)hmod);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    if (!hfunc || !name)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (handle_is(hmod, HANDLE_MODULE)) {
        struct function *f = module_function((struct module *)hmod, name);
        result = f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
        if (f)
            *hfunc = (CUfunction)f;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    sim_lock();
    bool live = count && handle_is(mod, HANDLE_MODULE);
    if (live) {
        *count = 0;
        for (const struct function *f = ((struct module *)mod)->functions; f; f = f->next)
            ++*count;
    }
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    if (!name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = handle_is(hmod, HANDLE_MODULE) ? module_variable((struct module *)hmod, name, dptr, bytes)
                                                     : CUDA_ERROR_INVALID_HANDLE;
    sim_unlock();
    return result;
}

CUresult impl_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---- functions: only handles of cuModuleGetFunction; a CUkernel is answered 400, as measured ---- */

#define WITH_FUNCTION(hfunc, good, statement) \
    CUresult result = CUDA_ERROR_INVALID_HANDLE; \
    sim_lock(); \
    if (handle_is(hfunc, HANDLE_FUNCTION)) { \
        struct function *f = (struct function *)hfunc; \
        result = (good) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; \
        if (result == CUDA_SUCCESS) { \
            statement; \
        } \
    } \
    sim_unlock(); \
    return result;

CUresult impl_cuFuncGetName(const char **name, CUfunction hfunc){WITH_FUNCTION(hfunc, name, *name = f->name)}

CUresult impl_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc){WITH_FUNCTION(hfunc, hmod, *hmod = (CUmodule)f->module)}

CUresult impl_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize){WITH_FUNCTION(func, paramOffset &&paramIndex < f->parameter_count,
                                                                  {
                                                                      *paramOffset = f->parameters[paramIndex].offset;
                                                                      if (paramSize)
                                                                          *paramSize = f->parameters[paramIndex].size;
                                                                  })}

CUresult impl_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc){
    WITH_FUNCTION(hfunc, pi &&attrib < CU_FUNC_ATTRIBUTE_MAX, *pi = f->attributes[attrib])}

CUresult impl_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value){
    WITH_FUNCTION(hfunc, attrib < CU_FUNC_ATTRIBUTE_MAX, f->attributes[attrib] = value)}

CUresult impl_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction hfunc){
    WITH_FUNCTION(hfunc, state, ((void)f, *state = CU_FUNCTION_LOADING_STATE_LOADED))}

CUresult impl_cuFuncLoad(CUfunction hfunc){WITH_FUNCTION(hfunc, true, (void)f)}

CUresult impl_cuFuncSetCacheConfig(CUfunction hfunc,
                                   CUfunc_cache config){WITH_FUNCTION(hfunc, config <= CU_FUNC_CACHE_PREFER_EQUAL, (void)f)}

/* ---- occupancy: by threads and blocks of an SM only ---- */

CUresult
    impl_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
    (void)dynamicSMemSize;
    WITH_FUNCTION(func, numBlocks && blockSize > 0 && blockSize <= 1024, {
        (void)f;
        *numBlocks = 2048 / ((blockSize + 31) / 32 * 32);
        if (*numBlocks > 32)
            *numBlocks = 32;
    })
}

CUresult impl_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags)
{
    (void)flags;
    return impl_cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult impl_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                               CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                               int blockSizeLimit)
{
    (void)blockSizeToDynamicSMemSize, (void)dynamicSMemSize;
    WITH_FUNCTION(func, minGridSize && blockSize, {
        (void)f;
        *blockSize = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
        *minGridSize = 2048 / *blockSize * 132;
    })
}

CUresult impl_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                        CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                        size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    (void)flags;
    return impl_cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                 blockSizeLimit);
}
