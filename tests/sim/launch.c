/* SPDX-License-Identifier: Apache-2.0
 *
 * cuLaunchKernel and its relatives. Called by programs. Parameters are copied during the call, as the driver does; an
 * unknown kernel is refused here and never "run" as nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/launch.h"
#include "tests/sim/sim.h"

static bool fits(const struct kernel_work *k)
{
    uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
    return k->grid[0] && k->grid[1] && k->grid[2] && k->grid[0] <= INT32_MAX && k->grid[1] <= 65535 &&
           k->grid[2] <= 65535 && threads && threads <= 1024 && k->block[2] <= 64;
}

/* The parameters from a buffer (`extra`), or NULL. */
static const void *buffer_of(void **extra, size_t *size)
{
    const void *buffer = NULL;
    *size = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(const size_t *)extra[i + 1];
    return buffer;
}

CUresult launch_work(CUfunction f, const struct kernel_work *shape, void **parameters, void **extra, struct work *w)
{
    struct function *fn = function_of(f);
    size_t given;
    const void *buffer = buffer_of(extra, &given);
    if (!fn)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!fits(shape) || (parameters && extra) || (fn->parameter_count && !parameters && !buffer))
        return CUDA_ERROR_INVALID_VALUE;
    if (!function_runs(fn)) {
        if (knob_tells_unknown())
            fprintf(stderr, "sim: kernel %s cannot run: %s\n", fn->name, fn->code->unknown);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *w = (struct work){.kind = WORK_KERNEL, .kernel = *shape, .blob_size = fn->parameter_bytes};
    w->kernel.function = fn;
    w->kernel.kernel = handle_is(f, HANDLE_KERNEL) ? (CUkernel)f : NULL;
    w->blob = calloc(1, fn->parameter_bytes + 1);
    if (!w->blob)
        abort();
    if (buffer)
        memcpy(w->blob, buffer, given < fn->parameter_bytes ? given : fn->parameter_bytes);
    for (size_t i = 0; parameters && i < fn->parameter_count; i++)
        memcpy((char *)w->blob + fn->parameters[i].offset, parameters[i], fn->parameters[i].size);
    fn->launched = true;
    return CUDA_SUCCESS;
}

/* Locked. Behind what the kernel comes after. */
static CUresult record_beginning(struct stream *s, CUevent event)
{
    struct work nothing = {.kind = WORK_NONE};
    struct op *op;
    if (!handle_is(event, HANDLE_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (s->capture)
        return capture_record(s, (struct event *)event);
    CUresult result = stream_push(s, &nothing, &op);
    if (result == CUDA_SUCCESS)
        event_record_behind((struct event *)event, op);
    return result;
}

/* began: events to be recorded when the kernel begins, one of each kind; NULL none. */
static CUresult launch(CUfunction f, const struct kernel_work *shape, CUstream hStream, void **parameters, void **extra,
                       const CUevent began[2])
{
    struct stream *s;
    struct work w;
    struct claim *claim = claim_take();
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = launch_work(f, shape, parameters, extra, &w);
    if (result == CUDA_SUCCESS)
        w.kernel.claim = claim_hold(claim);
    claim_release(claim);
    for (int i = 0; i < 2; i++)
        if (result == CUDA_SUCCESS && began[i])
            result = record_beginning(s, began[i]);
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &w, NULL);
    sim_unlock();
    return result;
}

static const CUevent no_events[2];

CUresult impl_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                             unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                             unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const struct kernel_work shape = {
        NULL, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, NULL, NULL};
    return launch(f, &shape, hStream, kernelParams, extra, no_events);
}

CUresult impl_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
    const struct kernel_work shape = {
        NULL, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, NULL, NULL};
    return launch(f, &shape, hStream, kernelParams, NULL, no_events);
}

/* Attributes that change order are not simulated, but for events of a kernel's beginning; those that only shape the launch
 * are accepted. */
static bool understood(const CUlaunchConfig *config, CUevent began[2])
{
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        switch (attribute->id) {
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: return false;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            if (!attribute->value.programmaticEvent.triggerAtBlockStart)
                return false;
            began[0] = attribute->value.programmaticEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: began[1] = attribute->value.launchCompletionEvent.event; break;
        default: break;
        }
    }
    return true;
}

CUresult impl_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUevent began[2] = {NULL, NULL};
    if (!understood(config, began))
        return CUDA_ERROR_NOT_SUPPORTED;
    const struct kernel_work shape = {NULL,
                                      {config->gridDimX, config->gridDimY, config->gridDimZ},
                                      {config->blockDimX, config->blockDimY, config->blockDimZ},
                                      config->sharedMemBytes,
                                      NULL,
                                      NULL};
    return launch(f, &shape, config->hStream, kernelParams, extra, began);
}
