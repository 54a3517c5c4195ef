/* SPDX-License-Identifier: Apache-2.0
 *
 * The dlsym and dlvsym doors. Called by the assembly stubs for every dlsym of the process: from anybody's constructor, from
 * malloc hooks, under the loader lock, and before this library's own constructors. Must not allocate, use stdio, load
 * anything, or leave dlerror other than the real call left it. A sanitizer asks here for all that it stands in front of
 * before any of that works, strcmp and dl_iterate_phdr among them: up to the jump no function of another object is called.
 *
 * A name of the table is looked up with the real function first; only an address that belongs to libcuda, or to the shim's
 * own exports, is replaced. Everything else goes on by a jump with the caller's return address in place.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/doors/answer.h"
#include "interpose/doors/doors.h"
#include "interpose/driver/driver.h"

__attribute__((visibility("hidden"))) void *(*ptds_real_dlsym)(void *, const char *);
__attribute__((visibility("hidden"))) void *(*ptds_real_dlvsym)(void *, const char *, const char *);

struct answer ptds_dlsym_decide(void *handle, const char *name, const void *caller);
struct answer ptds_dlvsym_decide(void *handle, const char *name, const char *version, const void *caller);

static const struct answer go_on = {0, NULL};

extern __attribute__((visibility("hidden"))) ElfW(Dyn) _DYNAMIC[];

void *door_behind(const char *name)
{
    void *found = elf_symbol_after(_DYNAMIC, name);
    return found ? found : elf_symbol_behind(_DYNAMIC, name, NULL);
}

static int find_real(void)
{
    if (__builtin_expect(__atomic_load_n(&ptds_real_dlvsym, __ATOMIC_ACQUIRE) != NULL, 1))
        return 1;
    void *plain = door_behind("dlsym"), *versioned = door_behind("dlvsym");
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
        if (elf_containing((const void *)(uintptr_t)&is_own, &self)) {
            base = self.base;
            __atomic_store_n(&end, self.end, __ATOMIC_RELEASE);
        }
    }
    return (uintptr_t)address >= base && (uintptr_t)address < end;
}

/* The program found the shim's export. What it would have found without the shim: the driver's, if it is loaded and has
 * the symbol; else nothing, with the error that the real lookup gives. */
static struct answer for_export(const char *name, const void *caller)
{
    int twin, id = api_find(name, &twin);
    if (id >= 0 && driver_search(0) && driver_real[id][twin])
        return (struct answer){1, door_answer(driver_real[id][twin], caller)};
    /* Past this object there is no such symbol either, and the real lookup says so in its own words. */
    return (struct answer){1, ptds_real_dlsym(RTLD_NEXT, name)};
}

static struct answer for_address(void *found, const char *name, const void *caller)
{
    if (!found)
        return go_on; /* once more, by the program itself: then dlerror names the object that asked */
    if (is_own(found))
        return for_export(name, caller);
    if (!driver_owns(found))
        return (struct answer){1, found};
    int twin;
    if (driver_row(found, &twin) >= 0)
        return (struct answer){1, door_answer(found, caller)};
    void *unknown_twin = driver_twin_by_name(name);
    if (unknown_twin)
        found = door_discovered(name, found, unknown_twin, 0, caller);
    return (struct answer){1, found};
}

static struct answer decide_next(const char *name, const void *caller)
{
    void *found = elf_symbol_behind(caller, name, NULL); /* as far as the shim needs to know whether that is the driver */
    if (!found || (!is_own(found) && !driver_owns(found)))
        return go_on;
    return for_address(found, name, caller);
}

/* RTLD_DEFAULT searches the caller's own scope after the global one, so only names that the global scope answers (the
 * shim's exports are in it) may be looked up from here. */
static int needs_callers_scope(const void *handle, const char *name)
{
    int twin;
    return handle == RTLD_DEFAULT && api_find(name, &twin) < 0;
}

struct answer ptds_dlsym_decide(void *handle, const char *name, const void *caller)
{
    if (!find_real())
        return (struct answer){1, NULL};
    if (!is_driver_name(name) || needs_callers_scope(handle, name))
        return go_on;
    if (handle == RTLD_NEXT)
        return decide_next(name, caller);
    return for_address(ptds_real_dlsym(handle, name), name, caller);
}

struct answer ptds_dlvsym_decide(void *handle, const char *name, const char *version, const void *caller)
{
    if (!find_real())
        return (struct answer){1, NULL};
    if (!is_driver_name(name) || needs_callers_scope(handle, name))
        return go_on;
    if (handle == RTLD_NEXT)
        return ptds_real_dlvsym(RTLD_DEFAULT, name, version) ? decide_next(name, caller) : go_on;
    return for_address(ptds_real_dlvsym(handle, name, version), name, caller);
}
