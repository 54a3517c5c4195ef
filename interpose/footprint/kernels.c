/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: their parameters, what their names say of them, whose variables they may use. Learnt once a kernel (some 12 us
 * of questions to the driver, measured), never inside a capture. Called by launches, on the hottest path there is, and by
 * the walk over a graph's nodes.
 */
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/pageable.h"

#include "interpose/base/memory.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/signature.h"
#include "interpose/footprint/tables.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"
#include "interpose/state/map.h"

#include <errno.h>
#include <string.h>

static struct map kernels; /* handle -> struct kernel * */
uint32_t kernels_forgotten;
static struct kernel *free_kernels, *resting_kernels;
static struct lock lock;

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

/* As many parameters as the driver has of it, none of another size than a pointer where the name says pointer. */
static void ask_name(struct kernel *kernel, const char *name)
{
    uint8_t flags[SIGNATURE_MOST];
    int count = signature_of(name, flags);
    if (count < 0 || (uint32_t)count != kernel->params)
        return;
    for (int i = 0; i < count; i++) {
        if (flags[i] & (SIGNATURE_READS | SIGNATURE_POINTS) && kernels_size(kernel->layout[i]) != sizeof(void *))
            return;
    }
    memcpy(kernel->flags, flags, (size_t)count);
}

/* The layout, and behind it a byte of flags for each parameter. */
static int make_room(struct kernel *kernel, uint32_t count)
{
    if (count > kernel->capacity) {
        kernel->layout = memory_keep(count * (sizeof kernel->layout[0] + 1));
        kernel->capacity = kernel->layout ? count : 0;
    }
    if (!kernel->layout)
        kernel->layout = memory_keep(1);
    kernel->flags = (uint8_t *)(kernel->layout + kernel->capacity);
    return kernel->layout != NULL;
}

static void ask_params(struct kernel *kernel, CUfunction function)
{
    uint32_t layout[1024], count = 0;
    size_t offset = 0, size = 0;
    CUresult result;
    kernel->params = UINT32_MAX;
    while ((result = param_info(function, count, &offset, &size)) == CUDA_SUCCESS && count < 1024)
        layout[count++] = (uint32_t)(offset << 16 | size);
    /* The end of the list is INVALID_VALUE; any other error means that nothing is known. */
    if (result != CUDA_ERROR_INVALID_VALUE || !make_room(kernel, count))
        return;
    memcpy(kernel->layout, layout, count * sizeof layout[0]);
    memset(kernel->flags, SIGNATURE_UNKNOWN, count);
    kernel->params = count;
}

static struct kernel *new_kernel(void)
{
    lock_take(&lock);
    struct kernel *kernel = free_kernels;
    if (kernel)
        free_kernels = kernel->next_free;
    lock_drop(&lock);
    return kernel ? kernel : memory_keep(sizeof *kernel);
}

static void free_kernel(struct kernel *kernel)
{
    lock_take(&lock);
    kernel->next_free = free_kernels;
    free_kernels = kernel;
    lock_drop(&lock);
}

static void add_flag(struct kernel *kernel, unsigned flag)
{
    for (uint32_t i = 0; kernel->params != UINT32_MAX && i < kernel->params; i++)
        kernel->flags[i] |= (uint8_t)flag;
}

/* After its flags. */
static void list_params(struct kernel *kernel)
{
    kernel->listed = kernel->plain = 0;
    if (kernel->params == UINT32_MAX || (kernel->module && kernel->module->points))
        return;
    for (uint32_t i = 0; i < kernel->params; i++) {
        uint16_t offset = (uint16_t)kernels_offset(kernel->layout[i]), size = (uint16_t)kernels_size(kernel->layout[i]);
        if (kernel->flags[i] & (SIGNATURE_POINTS | SIGNATURE_ENDS))
            return;
        if (size < sizeof(void *))
            continue;
        if (kernel->listed == KERNEL_PARAMS)
            return;
        kernel->param[kernel->listed++] = (struct kernel_param){(uint16_t)i, offset, size, kernel->flags[i]};
    }
    kernel->plain = 1;
}

static int gets_classes(const struct kernel *kernel)
{
    unsigned flags = kernel->module && kernel->module->points ? SIGNATURE_POINTS : 0;
    for (uint32_t i = 0; kernel->params != UINT32_MAX && i < kernel->params; i++)
        flags |= kernel->flags[i];
    return (flags & SIGNATURE_POINTS) != 0;
}

uint32_t kernels_opaque;

void kernels_are_opaque(enum opaque_reason why)
{
    __atomic_store_n(&kernels_opaque, (uint32_t)why, __ATOMIC_RELAXED);
}

/* As the record says it. */
static uint32_t variables_of(const struct module *module)
{
    if (!module)
        return 0;
    return !module->memory  ? PTDS_NO_VARIABLES
           : module->writes ? module->memory->uid
                            : module->memory->uid | PTDS_CONSTANT_VARIABLES;
}

static const struct kernel *learn(CUfunction function)
{
    struct kernel *kernel = (struct kernel *)map_get(&kernels, (uint64_t)function);
    if (kernel || capture_any())
        return kernel;
    kernel = new_kernel();
    if (!kernel)
        return NULL;
    const char *name = name_of(function);
    pageable_ask();
    kernel->handle = (uint64_t)function;
    kernel->uid = objects_uid(OBJECT_KERNEL);
    kernel->module = modules_of(function);
    ask_params(kernel, function);
    ask_name(kernel, name);
    if (signature_has_ends(name))
        add_flag(kernel, SIGNATURE_ENDS);
    if (kernel->module && kernel->module->heap)
        add_flag(kernel, SIGNATURE_HEAP);
    list_params(kernel);
    tables_kernel(gets_classes(kernel));
    /* Threads that meet a kernel for the first time together must agree on one entry. */
    struct kernel *agreed = (struct kernel *)map_get_or_set(&kernels, (uint64_t)function, (uint64_t)kernel);
    if (agreed == kernel)
        record_kernel(kernel->handle, kernel->uid, kernel->params, kernel->layout, variables_of(kernel->module), name);
    else if (agreed)
        free_kernel(kernel);
    return agreed ? agreed : kernel;
}

const struct kernel *kernels_find_anew(struct thread *thread, CUfunction function)
{
    uint32_t forgotten = __atomic_load_n(&kernels_forgotten, __ATOMIC_ACQUIRE);
    int saved = errno; /* the driver is asked */
    const struct kernel *kernel = learn(function);
    errno = saved;
    if (!thread->kernels)
        thread->kernels = memory_keep(KERNELS_MET * sizeof *thread->kernels);
    if (thread->kernels)
        thread->kernels[kernels_place(function)] = (struct kernel_entry){(uint64_t)function, kernel, forgotten};
    return kernel;
}

/* Those of the module, or with NULL all; onto a list. */
struct leaving {
    const struct module *module;
    struct kernel *list;
};

static int leaves(uint64_t handle, uint64_t value, void *data)
{
    struct leaving *leaving = data;
    struct kernel *kernel = (struct kernel *)value;
    (void)handle;
    if (leaving->module && kernel->module != leaving->module)
        return 0;
    kernel->next_free = leaving->list;
    leaving->list = kernel;
    return 1;
}

/* A thread may be about to launch one that leaves, where it is another context that ends: those rest, and serve again once
 * the next one has ended. */
static struct kernel *let_rest(struct kernel *leaving)
{
    lock_take(&lock);
    struct kernel *rested = resting_kernels;
    resting_kernels = leaving;
    lock_drop(&lock);
    return rested;
}

void footprint_kernels_forget(const struct module *module)
{
    struct leaving leaving = {module, NULL};
    map_remove_if(&kernels, leaves, &leaving);
    __atomic_add_fetch(&kernels_forgotten, 1, __ATOMIC_RELEASE);
    struct kernel *gone = module ? leaving.list : let_rest(leaving.list);
    while (gone) {
        struct kernel *kernel = gone;
        gone = kernel->next_free;
        free_kernel(kernel);
    }
}

static void forget_caches(struct thread *thread)
{
    record_forget_caches(thread);
    footprint_kernels_forget_cache(thread);
}

void footprint_listen(void)
{
    state_hooks.thread_over = forget_caches;
    record_memory_is_there = allocations_is_there;
}

void footprint_kernels_forget_cache(struct thread *thread)
{
    if (thread->kernels)
        memory_clear(thread->kernels, KERNELS_MET * sizeof *thread->kernels);
}

void footprint_kernels_after_fork(void)
{
    lock.held = 0;
    map_reset(&kernels);
}
