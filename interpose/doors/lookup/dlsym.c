/* SPDX-License-Identifier: Apache-2.0
 *
 * The dlsym and dlvsym doors. Called by the assembly stubs for every dlsym of the process: from any library's constructor,
 * from malloc hooks, under the loader lock, and before this library's own constructors. Must not allocate, use stdio, load
 * anything, or leave dlerror other than the real call left it. A sanitizer asks here for all that it stands in front of
 * before any of that works, strcmp and dl_iterate_phdr among them: up to the jump no function of another object is called.
 *
 * A name of the table is looked up with the real function first; only an address that belongs to libcuda, or to the shim's
 * own exports, is replaced. Everything else goes on by a jump with the caller's return address in place.
 */
#include "interpose/doors/lookup/dlsym.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/doors/door.h"
#include "interpose/doors/lookup/untabled.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"

__attribute__((visibility("hidden"))) void *(*ptds_real_dlsym)(void *, const char *);
__attribute__((visibility("hidden"))) void *(*ptds_real_dlvsym)(void *, const char *, const char *);

struct answer ptds_dlsym_decide(void *handle, const char *name, const void *caller);
struct answer ptds_dlvsym_decide(void *handle, const char *name, const char *version, const void *caller);

static const struct answer go_on = {0, NULL};

extern __attribute__((visibility("hidden"))) ElfW(Dyn) _DYNAMIC[];

void *dlsym_behind(const char *name)
{
    void *found = loaded_symbol_after(_DYNAMIC, name);
    return found ? found : loaded_symbol_behind(_DYNAMIC, name, NULL);
}

static int find_real(void)
{
    if (__builtin_expect(__atomic_load_n(&ptds_real_dlvsym, __ATOMIC_ACQUIRE) != NULL, 1))
        return 1;
    void *plain = dlsym_behind("dlsym"), *versioned = dlsym_behind("dlvsym");
    if (!plain || !versioned)
        return 0;
    __atomic_store_n(&ptds_real_dlsym, (void *(*)(void *, const char *))plain, __ATOMIC_RELEASE);
    __atomic_store_n(&ptds_real_dlvsym, (void *(*)(void *, const char *, const char *))versioned, __ATOMIC_RELEASE);
    return 1;
}

static int is_driver_name(const char *name)
{
    return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static int is_own(const void *address)
{
    static uintptr_t base, end;
    if (!__atomic_load_n(&end, __ATOMIC_ACQUIRE)) {
        struct elf_object self;
        if (loaded_containing((const void *)(uintptr_t)&is_own, &self)) {
            base = self.base;
            __atomic_store_n(&end, self.end, __ATOMIC_RELEASE);
        }
    }
    return (uintptr_t)address >= base && (uintptr_t)address < end;
}

/* A look-up. */
struct asked {
    void *handle;
    const char *name, *version; /* NULL: any */
    const void *caller;
};

static void *ask_real(void *handle, const struct asked *asked)
{
    return asked->version ? ptds_real_dlvsym(handle, asked->name, asked->version) : ptds_real_dlsym(handle, asked->name);
}

static struct answer for_drivers(void *found, const struct asked *asked)
{
    int twin;
    if (driver_row(found, &twin) >= 0)
        return (struct answer){1, door_answer(found, asked->caller)};
    struct untabled unknown = {.name = asked->name, .legacy = found, .twin = driver_twin_by_name(asked->name)};
    if (!unknown.twin && (unknown.legacy = driver_base_by_name(asked->name))) {
        unknown.twin = found;
        unknown.is_twin = 1;
    }
    return (struct answer){1, unknown.twin ? untabled_answer(&unknown, asked->caller) : found};
}

/* For another library's function, which the program would have got without the shim, too. */
static struct answer for_others(void *found, const struct asked *asked)
{
    int twin = 0, id = api_find(asked->name, &twin);
    return (struct answer){1, door_others(found, id, twin, asked->caller)};
}

static struct answer for_found(void *found, const struct asked *asked)
{
    return driver_owns(found) ? for_drivers(found, asked) : for_others(found, asked);
}

/* A library that is linked with the driver has it in its own scope, beside the program's. Whose scope the driver is in
 * can't be seen; where no object is linked with the driver, it is in none. */
static int may_be_in_own_scope(const struct asked *asked)
{
    struct elf_object object;
    return loaded_containing(asked->caller, &object) && *object.path && driver_is_needed();
}

static int find_libcs(const struct elf_object *object, void *out)
{
    return elf_is_libc(object) && (*(void **)out = elf_symbol(object, "dlsym")) != NULL;
}

/* A hook was asked for what a library has, looked in the program's scope and found the shim there, where it would have
 * found nothing: it would have gone on to the library. */
static void *ask_library(const struct asked *asked)
{
    static void *(*libcs)(void *, const char *);
    if (asked->handle == RTLD_DEFAULT || asked->handle == RTLD_NEXT)
        return NULL;
    if (!libcs)
        loaded_each(find_libcs, &libcs);
    void *found = libcs && libcs != ptds_real_dlsym ? libcs(asked->handle, asked->name) : NULL;
    return is_own(found) ? NULL : found;
}

/* The program found the shim's export. Without the shim it would have found what comes behind it in the same scope: the
 * driver's, another library's, or nothing, with the error that the real lookup gives. Where the next dlsym is a hook, that
 * looks behind itself for RTLD_NEXT, as it would for the program's own: what RTLD_DEFAULT finds behind the shim is known.
 */
static struct answer for_export(const struct asked *asked)
{
    int twin = 0, id = api_find(asked->name, &twin);
    if (id >= 0 && asked->handle != RTLD_NEXT && !asked->version && others_look() && others_function[id][twin])
        return for_others(others_function[id][twin], asked);
    void *found = ask_library(asked);
    if (!found)
        found = ask_real(RTLD_NEXT, asked);
    if (found)
        return for_found(found, asked);
    if (id < 0 || asked->handle != RTLD_DEFAULT || !may_be_in_own_scope(asked) || !driver_search(0) ||
        !driver_real[id][twin])
        return (struct answer){1, NULL};
    ask_real(RTLD_DEFAULT, asked); /* which finds something: dlerror has nothing to say */
    return (struct answer){1, door_answer(driver_real[id][twin], asked->caller)};
}

static struct answer for_address(void *found, const struct asked *asked)
{
    if (!found)
        return go_on; /* once more, by the program itself: then dlerror names the object that asked */
    if (is_own(found))
        return for_export(asked);
    return for_found(found, asked);
}

static struct answer decide_next(const struct asked *asked)
{
    /* As far as the shim needs to know whether that is the driver. */
    void *found = loaded_symbol_behind(asked->caller, asked->name, NULL);
    if (!found || (!is_own(found) && !driver_owns(found)))
        return go_on;
    if (!is_own(found) && !may_be_in_own_scope(asked) && !ask_real(RTLD_NEXT, asked))
        return go_on; /* it is loaded, and in no scope */
    return for_address(found, asked);
}

/* RTLD_DEFAULT searches the caller's own scope after the global one, so only names that the global scope answers may be
 * looked up from here: the shim's exports are in it, and what is found in the driver was found there, since the shim has no
 * other scope that leads to it. */
static int needs_callers_scope(const struct asked *asked)
{
    int twin;
    if (asked->handle != RTLD_DEFAULT || api_find(asked->name, &twin) >= 0)
        return 0;
    void *found = ask_real(RTLD_DEFAULT, asked);
    return !found || !driver_owns(found);
}

struct answer ptds_dlsym_decide(void *handle, const char *name, const void *caller)
{
    const struct asked asked = {handle, name, NULL, caller};
    if (!find_real())
        return (struct answer){1, NULL};
    if (!is_driver_name(name) || needs_callers_scope(&asked))
        return go_on;
    return handle == RTLD_NEXT ? decide_next(&asked) : for_address(ask_real(handle, &asked), &asked);
}

struct answer ptds_dlvsym_decide(void *handle, const char *name, const char *version, const void *caller)
{
    const struct asked asked = {handle, name, version, caller};
    if (!find_real())
        return (struct answer){1, NULL};
    if (!is_driver_name(name) || needs_callers_scope(&asked))
        return go_on;
    if (handle == RTLD_NEXT)
        return ptds_real_dlvsym(RTLD_DEFAULT, name, version) ? decide_next(&asked) : go_on;
    return for_address(ask_real(handle, &asked), &asked);
}
