/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: their parameters, and what their code says of them. Learnt once a kernel (some 12 us of questions to the driver,
 * measured, and the code's own time), never inside a capture. Called by launches, on the hottest path there is, and by the
 * walk over a graph's nodes.
 */
#include "interpose/footprint/modules/kernel_table.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/footprint/memories/pageable.h"
#include "interpose/footprint/modules/guess_by_name.h"
#include "interpose/footprint/modules/kernel_extents.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"
#include "interpose/state/map.h"
#include "interpose/state/uids.h"
#include "interpose/record/kernel_code.h"

uint32_t kernel_table_forgotten;

static struct map kernels; /* handle -> struct kernel * */
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

static int make_room(struct kernel *kernel, uint32_t count)
{
    if (count > kernel->capacity) {
        kernel->layout = pages_keep(count * sizeof kernel->layout[0]);
        kernel->capacity = kernel->layout ? count : 0;
    }
    if (!kernel->layout)
        kernel->layout = pages_keep(1);
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
    kernel->params = count;
}

static struct kernel *new_kernel(void)
{
    lock_take(&lock);
    struct kernel *kernel = free_kernels;
    if (kernel)
        free_kernels = kernel->next_free;
    lock_drop(&lock);
    return kernel ? kernel : pages_keep(sizeof *kernel);
}

static void free_kernel(struct kernel *kernel)
{
    lock_take(&lock);
    kernel->next_free = free_kernels;
    free_kernels = kernel;
    lock_drop(&lock);
}

/* Lists the base's pointer. 0: the kernel's launches have to be looked at in full. */
static int list_base(struct kernel *kernel, const struct launch_facts_base *base)
{
    const struct launch_facts_term *term = &kernel->facts.term[base->first];
    if (base->terms != 1 || base->through || base->sum_through)
        return 0;
    if (term->kind == CODE_VARIABLE)
        return 1;
    if (term->kind != CODE_PARAMETER || !launch_facts_is_contiguous(term->word) || kernel->listed == KERNEL_POINTERS)
        return 0;
    kernel->pointer[kernel->listed++] = (struct kernel_pointer){term->word.low, term->word.low_at, term->from,
                                                                (base->use & CODE_WRITE) != 0, base->mixes != 0};
    return 1;
}

static void list_pointers(struct kernel *kernel)
{
    const struct launch_facts *facts = &kernel->facts;
    int plain =
        !facts->opaque && !facts->handles && !facts->maps && kernel->module && !kernel->module->textures && !kernel->ends;
    kernel->listed = 0;
    for (unsigned i = 0; plain && i < facts->bases; i++)
        plain = list_base(kernel, &facts->base[i]);
    kernel->plain = (uint8_t)plain;
    kernel->variables = facts->variables;
}

/* Whether the kernel follows pointers that lie in variables, and in any memory. */
struct ways {
    int variables, any;
};
static struct ways ways_of(const struct launch_facts *facts)
{
    struct ways ways = {0, 0};
    for (unsigned i = 0; !facts->opaque && i < facts->bases; i++) {
        const struct launch_facts_base *base = &facts->base[i];
        int follows = base->through | base->sum_through;
        ways.any |= follows;
        for (unsigned k = 0; follows && k < base->terms; k++)
            ways.variables |= facts->term[base->first + k].kind == CODE_VARIABLE;
    }
    return ways;
}

void kernel_table_take(struct kernel *kernel, const struct code_facts *facts)
{
    launch_facts_take(&kernel->facts, facts, kernel->params, kernel->layout);
    struct ways ways = ways_of(&kernel->facts);
    if (ways.any)
        __atomic_store_n(&pointer_tables_followed, 1, __ATOMIC_RELAXED);
    if (kernel->facts.variables && !kernel->facts.opaque && (!kernel->module || !modules_variables(kernel->module)))
        kernel->facts.opaque = OPAQUE_OTHER;
    kernel->addresses = ways.variables && kernel->module && modules_have_addresses(kernel->module);
    list_pointers(kernel);
    kernel_extents_take(kernel, facts);
}

/* Reads the kernel's code; where it can't be read, the name may have to do. */
static void ask_code(struct kernel *kernel, const char *name, struct code_facts *facts)
{
    static const struct image none;
    image_read(kernel->module ? &kernel->module->image : &none, name, facts);
    if (facts->verdict == CODE_UNKNOWN && env_get()->trust == ENV_TRUST_NAMES)
        guess_by_name(name, kernel->params, kernel->layout, facts);
    kernel_table_take(kernel, facts);
}

/* The kernel's variables, as the record says it. */
static uint32_t variables_of(const struct kernel *kernel)
{
    const struct memory *memory = kernel->module ? kernel->module->memory : NULL;
    if (kernel->facts.opaque)
        return 0;
    return !memory || !kernel->facts.variables    ? PTDS_NO_VARIABLES
           : kernel->facts.variables & CODE_WRITE ? memory->uid
                                                  : memory->uid | PTDS_CONSTANT_VARIABLES;
}

static void ask(struct kernel *kernel, CUfunction function, const char *name, struct code_facts *facts)
{
    pageable_ask();
    kernel->handle = (uint64_t)function;
    kernel->uid = uids_next(OBJECT_KERNEL);
    kernel->module = modules_of(function);
    kernel->ends = (uint8_t)guess_by_name_has_ends(name);
    ask_params(kernel, function);
    ask_code(kernel, name, facts);
}

/* Threads that meet a kernel for the first time together must agree on one entry. */
static const struct kernel *agree(struct kernel *kernel, const char *name, const struct code_facts *facts)
{
    struct kernel *agreed = (struct kernel *)map_get_or_set(&kernels, kernel->handle, (uint64_t)kernel);
    if (agreed && agreed != kernel)
        free_kernel(kernel);
    if (agreed != kernel)
        return agreed ? agreed : kernel;
    recorder_kernel(kernel->handle, kernel->uid, kernel->params, kernel->layout, variables_of(kernel), name);
    kernel_code_record(kernel->uid, facts);
    return kernel;
}

static const struct kernel *learn(CUfunction function)
{
    struct kernel *kernel = (struct kernel *)map_get(&kernels, (uint64_t)function);
    if (kernel || capture_any())
        return kernel;
    struct code_facts *facts = pages_map(sizeof *facts);
    kernel = facts ? new_kernel() : NULL;
    const struct kernel *agreed = NULL;
    if (kernel) {
        const char *name = name_of(function);
        ask(kernel, function, name, facts);
        agreed = agree(kernel, name, facts);
    }
    if (facts)
        pages_unmap(facts, sizeof *facts);
    return agreed;
}

const struct kernel *kernel_table_find_anew(struct thread *thread, CUfunction function)
{
    uint32_t forgotten = __atomic_load_n(&kernel_table_forgotten, __ATOMIC_ACQUIRE);
    int saved = errno; /* the driver is asked */
    const struct kernel *kernel = learn(function);
    errno = saved;
    if (!thread->kernels)
        thread->kernels = pages_keep(KERNELS_MET * sizeof *thread->kernels);
    if (thread->kernels)
        thread->kernels[kernel_table_place(function)] = (struct kernel_entry){(uint64_t)function, kernel, forgotten};
    return kernel;
}

/* What map_remove_if gets: of which module kernels leave (NULL: of all), and the list of those that did. */
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

/* Where a context ends, a thread may be about to launch one of the kernels in another context. So they rest, and serve
 * again once the next context has ended. */
static struct kernel *let_rest(struct kernel *leaving)
{
    lock_take(&lock);
    struct kernel *rested = resting_kernels;
    resting_kernels = leaving;
    lock_drop(&lock);
    return rested;
}

void kernel_table_forget(const struct module *module)
{
    struct leaving leaving = {module, NULL};
    map_remove_if(&kernels, leaves, &leaving);
    __atomic_add_fetch(&kernel_table_forgotten, 1, __ATOMIC_RELEASE);
    struct kernel *gone = module ? leaving.list : let_rest(leaving.list);
    while (gone) {
        struct kernel *kernel = gone;
        gone = kernel->next_free;
        free_kernel(kernel);
    }
}

void kernel_table_forget_cache(struct thread *thread)
{
    if (thread->kernels)
        pages_clear(thread->kernels, KERNELS_MET * sizeof *thread->kernels);
}

void kernel_table_after_fork(void)
{
    lock.held = 0;
    map_reset(&kernels);
}
