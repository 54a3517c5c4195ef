/* SPDX-License-Identifier: Apache-2.0
 *
 * libptds_audit.so, which LD_AUDIT names beside libptds.so in LD_PRELOAD: the loader asks it about each reference that it
 * binds. It leads to the shim what RTLD_DEEPBIND has bound past it, before a constructor of that library runs, and notes
 * who uses a driver in another namespace (dlmopen): that is another copy of the driver, with contexts and streams of its
 * own, which the shim's must not be mixed with. So those are only counted.
 *
 * Called by the loader alone, with its locks held, from the program's first object on, by any thread and in signal
 * handlers. It has no libc, so no errno, no malloc and no thread-local storage; it makes no system call. Without a shim in
 * the process no reference is asked about. Must never change the answer of a dlsym: a look-up of the next
 * definition is meant to find that, and tools look so for the driver's own functions; nor what another auditor has changed.
 */
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose/base/audited.h"
#include "interpose/base/elf.h"
#include "interpose/doors/lookup/audit_answer.h"

#define EXPORT __attribute__((visibility("default")))

/* Before this, which came with glibc 2.35, each call between objects goes through the loader as soon as there is an
 * auditor: 190 ns instead of 2. It is not there at all then. */
enum { FIRST_VERSION = 2 };

/* What a cookie says of its object. The rest of it is the loader's link_map. */
enum { ELSEWHERE = 1, DRIVER = 2, KINDS = 3 };

static struct ptds_audited *shim;
static __typeof__(&ptds_audit_answer) shim_answer;

EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t name_space, uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name);

unsigned la_version(unsigned version)
{
    return version < FIRST_VERSION ? 0 : FIRST_VERSION;
}

/* The driver, or a tool in its place; of the latter the shim will know whether it is one. */
static int is_driver(const struct elf_object *object)
{
    return elf_symbol(object, "cuLaunchKernel_ptsz") && elf_symbol(object, "cuInit");
}

static int is_shim(const struct elf_object *object)
{
    struct ptds_audited *found = elf_symbol(object, "ptds_audited");
    void *asked = elf_symbol(object, "ptds_audit_answer");
    if (shim || !found || !asked || found->version != AUDITED_VERSION)
        return 0;
    shim = found;
    shim_answer = (__typeof__(shim_answer))asked;
    shim->present = 1;
    return 1;
}

unsigned la_objopen(struct link_map *map, Lmid_t name_space, uintptr_t *cookie)
{
    struct elf_object object;
    elf_of_map(map, &object);
    if (name_space != LM_ID_BASE)
        *cookie |= ELSEWHERE;
    else if (is_shim(&object))
        return 0;
    if (!shim)
        return LA_FLG_BINDFROM; /* there is no reference to be led to a shim yet */
    if (is_driver(&object)) {
        *cookie |= DRIVER;
        return name_space == LM_ID_BASE ? LA_FLG_BINDTO : LA_FLG_BINDTO | LA_FLG_BINDFROM;
    }
    if (name_space == LM_ID_BASE && elf_is_libc(&object))
        return LA_FLG_BINDTO;
    return LA_FLG_BINDFROM;
}

/* Not another object whose description lies where that of an unloaded one lay. */
static int is_still(const struct audited_object *place, const struct link_map *map)
{
    return !__atomic_load_n(&place->named, __ATOMIC_ACQUIRE) ||
           strncmp(place->name, map->l_name, sizeof place->name - 1) == 0;
}

/* A place is an object's as soon as its map is there, and is never given back. */
static struct audited_object *place_of(const struct link_map *map)
{
    for (int i = 0; i < AUDITED_OBJECTS; i++) {
        struct audited_object *place = &shim->elsewhere[i];
        const void *holder = NULL;
        if (__atomic_compare_exchange_n(&place->map, &holder, map, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            size_t size = strnlen(map->l_name, sizeof place->name - 1);
            memcpy(place->name, map->l_name, size); /* ends in a 0: there was nothing but 0 */
            __atomic_store_n(&place->named, 1, __ATOMIC_RELEASE);
            return place;
        }
        if (holder == map && is_still(place, map))
            return place;
    }
    return NULL;
}

/* Only a driver's functions are bound to, there. */
static void note_elsewhere(uintptr_t from, const char *name)
{
    int is_cuda = name[0] == 'c' && name[1] == 'u';
    struct audited_object *place = is_cuda ? place_of((const struct link_map *)(from & ~(uintptr_t)KINDS)) : NULL;
    if (place)
        __atomic_fetch_add(&place->functions, 1, __ATOMIC_RELAXED);
}

static uintptr_t answer(const char *name, uintptr_t found)
{
    if (__atomic_load_n(&shim->self, __ATOMIC_ACQUIRE) != shim)
        return found;
    uintptr_t right = shim_answer(name, found);
    if (right != found)
        __atomic_fetch_add(&shim->bound, 1, __ATOMIC_RELAXED);
    return right;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
    unsigned how = *flags;
    (void)index;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    if ((*from & DRIVER) || (how & LA_SYMB_ALTVALUE))
        return symbol->st_value;
    if (*to & ELSEWHERE) {
        note_elsewhere(*from, name);
        return symbol->st_value;
    }
    /* Beside those that dlsym asks for, references of another namespace are bound to objects of that namespace alone. */
    return how & LA_SYMB_DLSYM ? symbol->st_value : answer(name, symbol->st_value);
}
