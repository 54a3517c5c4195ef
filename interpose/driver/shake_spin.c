/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel that keeps a stream busy: one thread that reads the GPU's clock, without memory. Called by shake.c. A kernel
 * and no host function, since a driver runs the host functions of all streams one after the other, and one of the program's
 * may wait for work that is delayed. Must not fail a call of the program's: what can't be delayed is not.
 */
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/shake.h"

static const char image[] = ".version 6.0\n"
                            ".target sm_50\n"
                            ".address_size 64\n"
                            ".visible .entry ptds_shake(.param .u32 ns)\n"
                            "{\n"
                            ".reg .u32 %r<2>;\n"
                            ".reg .u64 %rd<4>;\n"
                            ".reg .pred %p<2>;\n"
                            "ld.param.u32 %r1, [ns];\n"
                            "cvt.u64.u32 %rd3, %r1;\n"
                            "mov.u64 %rd1, %globaltimer;\n"
                            "AGAIN:\n"
                            "mov.u64 %rd2, %globaltimer;\n"
                            "sub.u64 %rd2, %rd2, %rd1;\n"
                            "setp.lt.u64 %p1, %rd2, %rd3;\n"
                            "@%p1 bra AGAIN;\n"
                            "ret;\n"
                            "}\n";

enum { CONTEXTS = 64 };

/* A context's handle may come again once the context is destroyed; its number does not (cuda.h: cuCtxGetId, from 12.0). */
static struct place {
    CUcontext context;
    unsigned long long number;
    CUfunction kernel; /* NULL: it can't be loaded there */
} places[CONTEXTS];
static unsigned count;
static struct lock lock;

static CUfunction load(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    if (!REAL(cuModuleLoadData) || !REAL(cuModuleGetFunction) ||
        ASK(REAL(cuModuleLoadData)(&module, image)) != CUDA_SUCCESS ||
        ASK(REAL(cuModuleGetFunction)(&kernel, module, "ptds_shake")) != CUDA_SUCCESS) {
        diag_once(DIAG_ERROR,
                  "PTDS_SHAKE: the driver does not take the kernel that delays; nothing is delayed in such a context");
        return NULL;
    }
    return kernel;
}

/* Places are only added: a found one stays. */
static struct place *find(const struct place *here)
{
    unsigned known = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (unsigned at = 0; at < known; at++)
        if (places[at].context == here->context && places[at].number == here->number)
            return &places[at];
    return NULL;
}

static void keep(const struct place *here)
{
    lock_take(&lock);
    if (count < CONTEXTS) {
        places[count] = *here;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    lock_drop(&lock);
}

/* Of the current context, loaded when first asked for. NULL: none. */
static CUfunction kernel_here(void)
{
    struct place here = {NULL, 0, NULL};
    if (driver.cuCtxGetCurrent(&here.context) != CUDA_SUCCESS || !here.context)
        return NULL;
    if (driver.cuCtxGetId && ASK(driver.cuCtxGetId(here.context, &here.number)) != CUDA_SUCCESS)
        return NULL;
    struct place *known = find(&here);
    if (known)
        return known->kernel;
    if (__atomic_load_n(&count, __ATOMIC_RELAXED) == CONTEXTS)
        return NULL;
    here.kernel = load(); /* two threads may both load it: either kernel will do */
    keep(&here);
    return here.kernel;
}

static int is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return REAL(cuStreamIsCapturing) &&
           (ASK(REAL(cuStreamIsCapturing)(stream, &status)) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE);
}

void shake_spin(CUstream stream, uint32_t ns)
{
    void *params[] = {&ns};
    CUfunction kernel = is_captured(stream) ? NULL : kernel_here();
    if (kernel)
        ASK(shake_launch()(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}
