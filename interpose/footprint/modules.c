/* SPDX-License-Identifier: Apache-2.0
 *
 * What loading calls tell about modules. Called by the wrappers, all on cold paths, and once a kernel. Must not ask the
 * driver anything while a capture is open.
 */
#include "interpose/footprint/modules.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/mappings.h"
#include "interpose/footprint/memories.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/capture.h"
#include "interpose/state/map.h"
#include "interpose/state/uids.h"

#include <stdlib.h>
#include <string.h>

static struct map modules; /* CUmodule, CUlibrary -> struct module * */
static struct map owners;  /* CUfunction, CUkernel -> struct module * */
static struct module *free_modules;
static uint32_t variables_given; /* grows with each that is mapped */
static struct lock lock;

static struct module *new_module(uint64_t handle)
{
    lock_take(&lock);
    struct module *module = free_modules;
    if (module)
        free_modules = module->next_free;
    lock_drop(&lock);
    if (!module)
        module = pages_keep(sizeof *module);
    if (module)
        *module = (struct module){.handle = handle};
    return module;
}

static int is_of(uint64_t key, uint64_t value, void *module)
{
    (void)key;
    return value == (uint64_t)module;
}

/* Its kernels and its other handles go with it. */
static void forget_handles(struct module *module)
{
    map_remove_if(&owners, is_of, module);
    map_remove_if(&modules, is_of, module);
    footprint_kernels_forget(module);
}

/* And its memory. */
static void drop(struct module *module)
{
    if (module->memory)
        memories_unmap_memory(module->memory);
    memories_drop(module->memory);
    image_drop(&module->image);
    lock_take(&lock);
    module->next_free = free_modules;
    free_modules = module;
    lock_drop(&lock);
}

static struct module *known(uint64_t handle)
{
    return (struct module *)map_get(&modules, handle);
}

/* A handle that is there already is of a module that went without a call. */
static void loaded(uint64_t handle, struct image image)
{
    struct module *old = (struct module *)map_remove(&modules, handle), *module = new_module(handle);
    if (old) {
        forget_handles(old);
        drop(old);
    }
    if (!module) {
        image_drop(&image);
        return;
    }
    module->image = image;
    module->works = tables_works();
    map_set(&modules, handle, (uint64_t)module);
}

static int learns(const struct call *C, const void *handle)
{
    return C->footprint && C->result == CUDA_SUCCESS && handle;
}

static uint64_t handle_at(const void *handle)
{
    uint64_t value;
    memcpy(&value, handle, sizeof value);
    return value;
}

static void know_devices(void)
{
    static uint32_t known;
    uint32_t kinds[CODE_DEVICES + 1];
    unsigned count = 0;
    int devices = 0, major, minor;
    if (__atomic_load_n(&known, __ATOMIC_ACQUIRE) || !driver.cuDeviceGetAttribute || !driver.cuDeviceGetCount ||
        capture_any() || ASK(driver.cuDeviceGetCount(&devices)) != CUDA_SUCCESS)
        return;
    for (CUdevice device = 0; device < devices && count <= CODE_DEVICES; device++) {
        if (ASK(driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) !=
                CUDA_SUCCESS ||
            ASK(driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)) !=
                CUDA_SUCCESS) {
            count = 0;
            break;
        }
        unsigned i = 0;
        kinds[count] = (uint32_t)(major * 10 + minor);
        while (kinds[i] != kinds[count])
            i++;
        count += i == count;
    }
    lock_take(&lock);
    if (!known)
        image_devices(kinds, count, getenv("CUDA_FORCE_PTX_JIT") || getenv("CUDA_FORCE_JIT"));
    __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
    lock_drop(&lock);
}

void modules_loaded(struct call *C, const void *module, const void *image)
{
    struct image kept;
    if (!learns(C, module))
        return;
    know_devices();
    image_keep(&kept, image);
    loaded(handle_at(module), kept);
}

void modules_loaded_file(struct call *C, const void *module, const char *path)
{
    struct image kept;
    if (!learns(C, module))
        return;
    know_devices();
    image_keep_file(&kept, path);
    loaded(handle_at(module), kept);
}

/* The handles of the module that a call unloads, in its words, which are not recorded: their number, and each one. */
enum { HANDLES_MOST = CALL_WORDS - 1 };

static void keep_handle(struct call *C, uint64_t handle)
{
    if (C->word[0] < HANDLES_MOST)
        C->word[++C->word[0]] = handle;
}

static int leaves(uint64_t handle, uint64_t value, void *data)
{
    struct call *C = data;
    int is = is_of(handle, value, C->module);
    if (is)
        keep_handle(C, handle);
    return is;
}

/* Before the call: afterwards its handles may be others' at once. */
void modules_unloading(struct call *C, const void *module)
{
    C->module = C->footprint ? (struct module *)map_remove(&modules, (uint64_t)module) : NULL;
    if (!C->module)
        return;
    C->word[0] = 0;
    keep_handle(C, (uint64_t)module);
    map_remove_if(&modules, leaves, C);
    forget_handles(C->module);
}

/* Its variables are there as long as it may be refused. */
void modules_unloaded(struct call *C)
{
    if (C->module && C->result == CUDA_SUCCESS)
        drop(C->module);
    for (uint64_t i = 1; C->module && C->result != CUDA_SUCCESS && i <= C->word[0]; i++)
        map_set(&modules, C->word[i], (uint64_t)C->module);
}

void modules_gave_function(struct call *C, const void *function, const void *module)
{
    struct module *of = learns(C, function) ? known((uint64_t)module) : NULL;
    if (of)
        map_set(&owners, handle_at(function), (uint64_t)of);
}

void modules_gave_kernels_function(struct call *C, const void *function, const void *kernel)
{
    uint64_t of = learns(C, function) ? map_get(&owners, (uint64_t)kernel) : 0;
    if (of)
        map_set(&owners, handle_at(function), of);
}

/* A library's module of one context is another handle for the same. */
void modules_gave_module(struct call *C, const void *module, const void *library)
{
    struct module *of = learns(C, module) ? known((uint64_t)library) : NULL;
    if (of)
        map_set(&modules, handle_at(module), (uint64_t)of);
}

void modules_gave_texture(struct call *C, const void *module)
{
    struct module *of = learns(C, module) ? known((uint64_t)module) : NULL;
    if (of)
        of->textures = 1;
}

struct memory *modules_variables(struct module *module)
{
    struct memory *memory = __atomic_load_n(&module->memory, __ATOMIC_ACQUIRE), *none = NULL;
    if (memory)
        return memory;
    memory = memories_new(PTDS_MEMORY_GLOBAL, 0, 0);
    if (!memory)
        return NULL;
    tables_made_at(memory, module->works);
    if (__atomic_compare_exchange_n(&module->memory, &none, memory, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return memory;
    memories_drop(memory);
    return none;
}

int modules_have_addresses(struct module *module)
{
    if (__atomic_load_n(&module->addresses, __ATOMIC_RELAXED) == ADDRESSES_UNASKED)
        __atomic_store_n(&module->addresses, image_has_addresses(&module->image) ? ADDRESSES_SOME : ADDRESSES_NO,
                         __ATOMIC_RELAXED);
    return module->addresses == ADDRESSES_SOME;
}

static struct module *owner_by_driver(CUfunction function)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    if (driver.cuFuncGetModule && driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS)
        return known((uint64_t)module);
    if (driver.cuKernelGetLibrary && driver.cuKernelGetLibrary(&library, (CUkernel)function) == CUDA_SUCCESS)
        return known((uint64_t)library);
    return NULL;
}

struct module *modules_of(CUfunction function)
{
    struct module *of = (struct module *)map_get(&owners, (uint64_t)function);
    return of || capture_any() ? of : owner_by_driver(function);
}

/* In the memory's `host`: the variable is managed. What the driver does not say may be so. */
static uint8_t ask_managed(uint64_t address)
{
    unsigned managed = 0;
    if (capture_any())
        return 1 | MEMORY_UNASKED;
    int is_said = driver.cuPointerGetAttribute &&
                  ASK(driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address)) == CUDA_SUCCESS;
    return !is_said || managed;
}

static void given(struct memory *variables, uint8_t host)
{
    lock_take(&lock);
    variables_given++;
    variables->host |= host;
    lock_drop(&lock);
}

/* All of them, each by its address. One that comes meanwhile is asked for the next time. */
static __attribute__((noinline)) void ask_again(struct memory *variables)
{
    uint32_t before = __atomic_load_n(&variables_given, __ATOMIC_ACQUIRE);
    uint8_t host = 0;
    struct place place = memories_last_of(variables, UINT64_MAX);
    for (; place.memory; place = memories_last_of(variables, place.begin - 1))
        host |= ask_managed(place.begin);
    lock_take(&lock);
    if (variables_given == before)
        variables->host = (uint8_t)((variables->host & ~(1 | MEMORY_UNASKED)) | host);
    lock_drop(&lock);
}

int modules_are_hosts(struct memory *variables)
{
    if (variables->host & MEMORY_UNASKED && !capture_any())
        ask_again(variables);
    return variables->host != 0;
}

/* Asked for again, it is there. Any other memory at its address went without a call. */
static int is_there(struct call *C, const struct module *of, uint64_t base)
{
    const struct memory *found = memories_find(C->thread, base).memory;
    return found && (of ? found == of->memory : found->kind == PTDS_MEMORY_GLOBAL);
}

/* Of a program that did not ask for its size. */
static size_t ask_size(const struct call *C, const void *module, const char *name)
{
    CUdeviceptr base;
    CUdeviceptr_v1 base_v1;
    unsigned bytes_v1 = 0;
    size_t bytes = 0;
    switch (C->api) {
    case API_cuModuleGetGlobal:
        (void)ASK(REAL(cuModuleGetGlobal)(&base_v1, &bytes_v1, (CUmodule)(uintptr_t)module, name));
        return bytes_v1;
    case API_cuModuleGetGlobal_v2:
        (void)ASK(REAL(cuModuleGetGlobal_v2)(&base, &bytes, (CUmodule)(uintptr_t)module, name));
        break;
    case API_cuLibraryGetGlobal:
        (void)ASK(REAL(cuLibraryGetGlobal)(&base, &bytes, (CUlibrary)(uintptr_t)module, name));
        break;
    case API_cuLibraryGetManaged:
        (void)ASK(REAL(cuLibraryGetManaged)(&base, &bytes, (CUlibrary)(uintptr_t)module, name));
        break;
    default: break;
    }
    return bytes;
}

void modules_gave_global(struct call *C, const void *pointer, size_t pointer_size, const void *bytes, size_t bytes_size,
                         const void *module, const char *name)
{
    uint64_t base = 0, size = 0;
    if (!learns(C, pointer))
        return;
    memcpy(&base, pointer, pointer_size);
    if (bytes)
        memcpy(&size, bytes, bytes_size);
    else
        size = ask_size(C, module, name);
    if (!size)
        return;
    struct module *of = known((uint64_t)module);
    if (is_there(C, of, base))
        return;
    struct memory *memory = of ? modules_variables(of) : memories_new(PTDS_MEMORY_GLOBAL, base, size);
    if (!memory)
        return;
    uint8_t managed = ask_managed(base);
    if (managed == 1)
        mappings_show(C, memory);
    memories_map(memory, base, size, base);
    given(memory, managed);
    footprint_record_alloc(C, PTDS_MEMORY_GLOBAL, base, size, uids_next(OBJECT_MEMORY));
    footprint_record_part(C, memory->uid, 0);
    if (!of)
        memories_drop(memory); /* its range holds it */
}

void modules_after_fork(void)
{
    lock.held = 0;
    map_reset(&modules);
    map_reset(&owners);
}
