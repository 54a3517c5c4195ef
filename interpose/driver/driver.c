/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcuda and reads its symbol table. Called by every door before its first answer. Parts run inside dlsym, under the
 * loader lock and before any constructor: they must not allocate, load, or call dlsym.
 *
 * An address is a sound key: for all 637 exported names dlsym and cuGetProcAddress give the same one, and no two exported
 * functions share one (measured, drivers 450 to 580).
 *
 * A tool may stand in the driver's place: a library that exports the whole driver API and is what dlopen("libcuda.so.1")
 * gives the program (Nsight Compute's is). Then that one is the driver here, so that the tool sees what the program sees,
 * and the real one lies behind it: its addresses are known too. Likewise where libcuda.so.1 itself is a small library that
 * opens the real one (WSL 2): what it answers for is the real one's.
 */
#include "interpose/driver/driver.h"

#include <dlfcn.h>
#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/lock.h"

void *driver_real[API_COUNT][2];
struct driver_calls driver;
void (*driver_wants_claims)(const struct driver_range *ranges, unsigned count, int everything);

static struct elf_object object, behind; /* behind.end 0: nothing is */
static uint32_t ready;
static uint32_t adoptions;
static struct lock adopting; /* taken in the loader's lock, too: its holder must not ask the loader anything */

/* Real address -> (id * 2 + twin) + 1, open addressing. */
#define SLOTS 2048u
static struct {
    uintptr_t address;
    uint32_t key;
} slots[SLOTS];

int driver_ready(void)
{
    return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 0;
}

const char *driver_path(void)
{
    return driver_ready() ? object.path : "";
}

static int contains(const struct elf_object *candidate, const void *address)
{
    return (uintptr_t)address >= candidate->base && (uintptr_t)address < candidate->end;
}

static int is_named_driver(const struct elf_object *candidate)
{
    const char *slash = strrchr(candidate->path, '/');
    const char *file = slash ? slash + 1 : candidate->path;
    int named =
        strncmp(file, "libcuda.so", 10) == 0 || (candidate->soname && strcmp(candidate->soname, "libcuda.so.1") == 0);
    return named && (elf_symbol(candidate, "cuInit") || elf_symbol(candidate, "cuLaunchKernel"));
}

/* Twins included: a library that wraps a few calls is no driver. */
static int stands_in(const struct elf_object *candidate)
{
    static const char *const whole[] = {"cuInit",
                                        "cuDriverGetVersion",
                                        "cuGetProcAddress_v2",
                                        "cuLaunchKernel",
                                        "cuLaunchKernel_ptsz",
                                        "cuMemcpyDtoH_v2_ptds",
                                        "cuStreamSynchronize_ptsz"};
    if (contains(candidate, (const void *)&driver))
        return 0;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!elf_symbol(candidate, whole[i]))
            return 0;
    return 1;
}

int driver_is(const struct elf_object *candidate)
{
    return is_named_driver(candidate) || stands_in(candidate);
}

static uint32_t slot_of(uintptr_t address)
{
    return (uint32_t)((address >> 4) * 2654435761u >> 16) % SLOTS;
}

static void note(void *address, int id, int twin)
{
    uint32_t at = slot_of((uintptr_t)address);
    while (slots[at].address && slots[at].address != (uintptr_t)address)
        at = (at + 1) % SLOTS;
    slots[at].key = (uint32_t)(id * 2 + twin) + 1;
    __atomic_store_n(&slots[at].address, (uintptr_t)address, __ATOMIC_RELEASE);
}

static void learn_name(const struct elf_object *from, int id, int twin, const char *name)
{
    void *address = elf_symbol(from, name);
    if (!address)
        return;
    note(address, id, twin);
    if (!driver_real[id][twin])
        driver_real[id][twin] = address;
}

static void learn(const struct elf_object *from)
{
    for (int id = 0; id < API_COUNT; id++) {
        learn_name(from, id, 0, api_rows[id].symbol);
        if (api_rows[id].twin_symbol)
            learn_name(from, id, 1, api_rows[id].twin_symbol);
    }
}

static uint8_t pinned;

/* 1: the object in use is no longer loaded. Before the first real call, which pins it, the program may unload it again. */
static int has_left(void)
{
    struct elf_object there;
    return !pinned && !(loaded_containing((const void *)object.base, &there) && driver_is(&there));
}

static void adopt(const struct elf_object *found)
{
    uint32_t seen = __atomic_load_n(&adoptions, __ATOMIC_ACQUIRE);
    int stale = driver_ready() && has_left();
    lock_take(&adopting);
    if (!driver_ready() || (stale && seen == adoptions)) {
        object = *found;
        memset(slots, 0, sizeof slots);
        memset(driver_real, 0, sizeof driver_real);
        learn(&object);
#define X(name) driver.name = (__typeof__(driver.name))elf_symbol(&object, #name);
        DRIVER_CALLS(X)
#undef X
        driver_wants_claims = (__typeof__(driver_wants_claims))elf_symbol(&object, "sim_claim_next");
        __atomic_store_n(&adoptions, adoptions + 1, __ATOMIC_RELEASE);
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        diag_once(DIAG_DEBUG, "driver is ", found->path);
    }
    lock_drop(&adopting);
}

/* The real driver behind a tool's, or behind a small one. */
static void adopt_behind(const struct elf_object *found)
{
    lock_take(&adopting);
    if (!behind.end) {
        learn(found);
        behind = *found;
        diag_once(DIAG_DEBUG, "behind it lies ", found->path);
    }
    lock_drop(&adopting);
}

static int owned(const void *address)
{
    return driver_ready() && (contains(&object, address) || contains(&behind, address));
}

static int adopt_first(const struct elf_object *candidate, void *unused)
{
    (void)unused;
    if (!driver_is(candidate))
        return 0;
    adopt(candidate);
    return 1;
}

int driver_owns(const void *address)
{
    struct elf_object candidate;
    if (owned(address))
        return 1;
    int open = !driver_ready() || !pinned;
    if ((!open && is_named_driver(&object)) || !loaded_containing(address, &candidate) || !driver_is(&candidate))
        return 0;
    if (!driver_ready())
        loaded_each(adopt_first, NULL); /* in load order: a tool's own look-up in the real driver may be the first of all */
    else if (open)
        adopt(&candidate);
    if (!owned(address) && !is_named_driver(&object) && is_named_driver(&candidate))
        adopt_behind(&candidate);
    return owned(address);
}

/* dlopen itself moved from libdl to libc in glibc 2.34, so it is looked up rather than linked. */
static int find_dlopen(const struct elf_object *candidate, void *out)
{
    void *found = elf_symbol(candidate, "dlopen");
    if (found && elf_is_libc(candidate))
        *(void **)out = found;
    return found != NULL && *(void **)out != NULL;
}

void *driver_load(const char *path, int flags)
{
    void *function = NULL;
    if (!loaded_each(find_dlopen, &function))
        return NULL;
    return ((void *(*)(const char *, int))function)(path, flags);
}

int driver_has(const void *address)
{
    return owned(address);
}

void driver_answered(const void *address)
{
    struct elf_object there;
    if (driver_ready() && !owned(address) && loaded_containing(address, &there) && is_named_driver(&there))
        adopt_behind(&there);
}

static int is_another(const struct elf_object *candidate, void *out)
{
    if (!is_named_driver(candidate) || owned((const void *)candidate->base))
        return 0;
    *(struct elf_object *)out = *candidate;
    return 1;
}

/* What the driver gives for a function that each has. */
static const void *own_answer(void)
{
    void *found = NULL;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (REAL(cuGetProcAddress_v2))
        result = ASK(REAL(cuGetProcAddress_v2)("cuInit", &found, 2000, 0, NULL));
    else if (REAL(cuGetProcAddress))
        result = ASK(REAL(cuGetProcAddress)("cuInit", &found, 2000, 0));
    return result == CUDA_SUCCESS ? found : NULL;
}

void driver_look_behind(void)
{
    struct elf_object another;
    if (!driver_ready() || behind.end || !loaded_each(is_another, &another))
        return;
    const void *answer = own_answer();
    if (answer)
        driver_answered(answer);
    if (!behind.end && strstr(object.path, "/wsl/lib/")) /* it answers with functions of its own */
        adopt_behind(&another);
}

int driver_search(int may_load)
{
    if (driver_ready() || loaded_each(adopt_first, NULL))
        return 1;
    if (may_load && driver_load("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
        loaded_each(adopt_first, NULL);
    return driver_ready();
}

void driver_after_fork(void)
{
    adopting.held = 0;
}

static int needs_driver(const struct elf_object *candidate, void *unused)
{
    (void)unused;
    for (const ElfW(Dyn) *entry = candidate->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED && strncmp(candidate->strings + entry->d_un.d_val, "libcuda.so", 10) == 0)
            return 1;
    }
    return 0;
}

int driver_is_needed(void)
{
    return loaded_each(needs_driver, NULL);
}

void driver_pin(void)
{
    if (!driver_ready() || __atomic_exchange_n(&pinned, 1, __ATOMIC_ACQ_REL))
        return;
    if (!driver_load(object.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        diag_once(DIAG_DEBUG, "could not pin ", object.path);
}

int driver_row(const void *address, int *twin)
{
    if (!driver_ready())
        return -1;
    for (uint32_t at = slot_of((uintptr_t)address); slots[at].address; at = (at + 1) % SLOTS) {
        if (slots[at].address == (uintptr_t)address) {
            *twin = (int)((slots[at].key - 1) % 2);
            return (int)((slots[at].key - 1) / 2);
        }
    }
    return -1;
}

void driver_replace(int id, int twin, void *function)
{
    lock_take(&adopting);
    note(function, id, twin);
    __atomic_store_n(&driver_real[id][twin], function, __ATOMIC_RELEASE);
    lock_drop(&adopting);
}

void *driver_twin_by_name(const char *name)
{
    char twin[128];
    size_t length = strlen(name);
    if (!driver_ready() || length + 6 > sizeof twin)
        return NULL;
    memcpy(twin, name, length);
    memcpy(twin + length, "_ptsz", 6);
    void *found = elf_symbol(&object, twin);
    if (found)
        return found;
    memcpy(twin + length, "_ptds", 6);
    return elf_symbol(&object, twin);
}

void *driver_base_by_name(const char *name)
{
    char base[128];
    size_t length = strlen(name);
    if (!driver_ready() || length < 6 || length > sizeof base ||
        (strcmp(name + length - 5, "_ptsz") != 0 && strcmp(name + length - 5, "_ptds") != 0))
        return NULL;
    memcpy(base, name, length - 5);
    base[length - 5] = 0;
    return elf_symbol(&object, base);
}
