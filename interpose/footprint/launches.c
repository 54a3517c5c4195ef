/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of kernel launches: which kernel, and every argument word that may point into an allocation. Called by the
 * wrappers before the call, on the hottest path there is. Asks the driver once a kernel (about 12 us, measured), never
 * inside a capture.
 */
#include "interpose/base/memory.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/touch.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"
#include "interpose/state/map.h"

#include <string.h>

static struct map kernels; /* handle -> struct kernel * */
static uint32_t kernels_forgotten;

/* The thread's last kernels, so that a launch usually takes no lock. */
#define CACHE 64u
struct kernel_entry {
    uint64_t handle;
    const struct kernel *kernel;
    uint32_t forgotten; /* kernels_forgotten when it was looked up */
};

static inline uint64_t place_of(CUfunction function)
{
    return ((uint64_t)function >> 4) % CACHE;
}

/* A kernel launched through cudart is a CUkernel, to which the CUfunction questions answer 400, and the other way round
 * (measured): ask both. */
static CUresult param_info(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (driver.cuFuncGetParamInfo)
        result = driver.cuFuncGetParamInfo(function, index, offset, size);
    if (result == CUDA_ERROR_INVALID_HANDLE && driver.cuKernelGetParamInfo)
        result = driver.cuKernelGetParamInfo((CUkernel)function, index, offset, size);
    return result;
}

static const char *name_of(CUfunction function)
{
    const char *name = NULL;
    if (driver.cuFuncGetName && driver.cuFuncGetName(&name, function) == CUDA_SUCCESS)
        return name;
    if (driver.cuKernelGetName && driver.cuKernelGetName(&name, (CUkernel)function) == CUDA_SUCCESS)
        return name;
    return NULL;
}

static void ask_params(struct kernel *kernel, CUfunction function)
{
    uint32_t layout[256], count = 0;
    size_t offset = 0, size = 0;
    CUresult result;
    kernel->params = UINT32_MAX;
    while ((result = param_info(function, count, &offset, &size)) == CUDA_SUCCESS && count < 256)
        layout[count++] = (uint32_t)(offset << 16 | size);
    /* The end of the list is INVALID_VALUE; any other error means that nothing is known. */
    if (result != CUDA_ERROR_INVALID_VALUE)
        return;
    kernel->layout = memory_keep(count * sizeof layout[0] + 1);
    if (!kernel->layout)
        return;
    memcpy(kernel->layout, layout, count * sizeof layout[0]);
    kernel->params = count;
}

static const struct kernel *learn(CUfunction function)
{
    struct kernel *kernel = (struct kernel *)map_get(&kernels, (uint64_t)function);
    if (kernel || capture_any())
        return kernel;
    kernel = memory_keep(sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->handle = (uint64_t)function;
    kernel->uid = objects_uid(OBJECT_KERNEL);
    ask_params(kernel, function);
    /* Threads that meet a kernel for the first time together must agree on one entry. */
    struct kernel *agreed = (struct kernel *)map_get_or_set(&kernels, (uint64_t)function, (uint64_t)kernel);
    if (agreed == kernel)
        record_kernel(kernel, name_of(function));
    return agreed ? agreed : kernel;
}

/* Apart, so that other launches save no registers for it. */
static __attribute__((noinline)) const struct kernel *look_up(struct thread *thread, CUfunction function)
{
    uint32_t forgotten = __atomic_load_n(&kernels_forgotten, __ATOMIC_ACQUIRE);
    const struct kernel *kernel = learn(function);
    if (!thread->kernels)
        thread->kernels = memory_keep(CACHE * sizeof *thread->kernels);
    if (thread->kernels)
        thread->kernels[place_of(function)] = (struct kernel_entry){(uint64_t)function, kernel, forgotten};
    return kernel;
}

static const struct kernel *kernel_of(struct thread *thread, CUfunction function)
{
    const struct kernel_entry *entry = thread->kernels ? &thread->kernels[place_of(function)] : NULL;
    if (__builtin_expect(entry && entry->handle == (uint64_t)function && entry->kernel &&
                             entry->forgotten == __atomic_load_n(&kernels_forgotten, __ATOMIC_ACQUIRE),
                         1))
        return entry->kernel;
    return look_up(thread, function);
}

void footprint_kernels_forget(void)
{
    map_clear(&kernels);
    __atomic_add_fetch(&kernels_forgotten, 1, __ATOMIC_RELEASE);
}

void footprint_kernels_forget_cache(struct thread *thread)
{
    if (thread->kernels)
        memset(thread->kernels, 0, CACHE * sizeof *thread->kernels);
}

void footprint_kernels_after_fork(void)
{
    map_reset(&kernels);
}

/* The word, for the record: there is room for so many. */
static void keep_word(struct call *C, uint64_t word, size_t offset)
{
    if (C->words == CALL_WORDS)
        C->flags |= PTDS_CALL_OPAQUE;
    else
        C->word[C->words++] = word | (uint64_t)(offset / 8) << PTDS_LAUNCH_ADDRESS_BITS;
}

/* `offset`: where in the kernel's parameter space the bytes lie. A pointer to the end of an array counts as one into it. */
static void keep_pointers(struct call *C, const uint8_t *bytes, size_t size, size_t offset)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (!memories_in_span(word))
            continue;
        if (C->enter)
            keep_word(C, word, offset + at);
        struct memory *memory = memories_find(C->thread, word).memory;
        if (!memory)
            memory = memories_find(C->thread, word - 1).memory;
        if (memory)
            touch_whole(&C->touched, memory, 1);
    }
}

/* Arguments as one buffer: CU_LAUNCH_PARAM_BUFFER_POINTER, pointer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, END. */
static int scan_buffer(struct call *C, void *const *extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    for (int i = 0; i < 8 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(const size_t *)extra[i + 1];
        else
            return 0;
    }
    if (buffer)
        keep_pointers(C, buffer, size, 0);
    return buffer != NULL;
}

/* Eight-byte words at the alignment of a parameter's own start, pointer arrays inside by-value structs included. */
static int scan_params(struct call *C, const struct kernel *kernel, void *const *params)
{
    if (!kernel || kernel->params == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < kernel->params; i++) {
        if (params[i])
            keep_pointers(C, params[i], kernel->layout[i] & 0xffffu, kernel->layout[i] >> 16);
    }
    return 1;
}

void footprint_arguments(struct call *C, CUfunction function, void **params, void **extra)
{
    const struct kernel *kernel = kernel_of(C->thread, function);
    C->object = kernel ? kernel->uid : 0;
    int known = params ? scan_params(C, kernel, params) : extra ? scan_buffer(C, extra) : kernel && kernel->params == 0;
    if (!known) {
        C->flags |= PTDS_CALL_OPAQUE;
        touch_opaque(&C->touched, OPAQUE_PARAMETERS);
    }
}

static unsigned attributes_of(const CUlaunchConfig *config)
{
    unsigned found = 0;
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: found |= PTDS_LAUNCH_COOPERATIVE; break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: found |= PTDS_LAUNCH_PROGRAMMATIC; break;
        default: found |= PTDS_LAUNCH_OTHER; break;
        }
    }
    return found;
}

void fp_launch_ex(struct call *C, const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
    if (!C->footprint || !config)
        return;
    fp_launch(C, function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
              config->blockDimZ, config->sharedMemBytes, params, extra);
    C->word[2] |= (uint64_t)attributes_of(config) << 48;
}
