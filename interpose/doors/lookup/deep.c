/* SPDX-License-Identifier: Apache-2.0
 *
 * RTLD_DEEPBIND lets a library and what comes with it look in each other before the program and its preloaded libraries, so
 * they find libc's dlsym and the driver's own functions. Called by the dlopen door when such a library has been loaded: the
 * words that hold those addresses get what they would hold without the flag. Must not touch a word that holds anything
 * else, an object that was there before, errno or dlerror, and must not allocate from the program's memory.
 *
 * A library's constructors have run by then.
 */
#include "interpose/doors/lookup/deep.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/pages.h"
#include "interpose/base/slots.h"
#include "interpose/doors/door.h"
#include "interpose/driver/driver.h"

/* The library and what it needs stay loaded meanwhile: the program does not have the handle yet, so it cannot give it back.
 * All other objects may only be looked at in the loader's lock. */
struct deep {
    const struct link_map *map; /* glibc's handles are that */
    const struct deep_before *before;
    struct elf_object *objects, self; /* every one in load order; the shim */
    uint32_t count, room;
    uint32_t *scope, scope_count; /* the library and what it needs, breadth first: where the loader looks for symbols */
    uint32_t library;             /* what came with it stands behind it */
};

/* Calls between begin and end. A call that a constructor leaves for good (it ends its thread) stays counted: from then on
 * it is never certain what was there before. */
static uint32_t opening;

static int count_one(struct dl_phdr_info *info, size_t size, void *data)
{
    struct deep_before *before = data;
    (void)size;
    before->objects++;
    before->unloads = info->dlpi_subs;
    return 0;
}

/* Other calls are counted last: a call that has loaded an object that was counted here is among them, or done with it. */
void deep_begin(struct deep_before *before)
{
    *before = (struct deep_before){0};
    __atomic_fetch_add(&opening, 1, __ATOMIC_ACQ_REL);
    dl_iterate_phdr(count_one, before);
    before->opening = __atomic_load_n(&opening, __ATOMIC_ACQUIRE) - 1;
}

static int collect(const struct elf_object *object, void *data)
{
    struct deep *deep = data;
    if (deep->count == deep->room)
        return 1; /* what others load meanwhile comes last */
    deep->objects[deep->count++] = *object;
    return 0;
}

/* 0: the library was there before. To look at it once more does no harm, so that is done also where this can't be told: if
 * an object was unloaded meanwhile, or another thread may have loaded the library and not come further yet. */
static int find_library(struct deep *deep)
{
    struct deep_before now = {0};
    dl_iterate_phdr(count_one, &now);
    int unsure = deep->before->opening || deep->before->unloads != now.unloads;
    while (deep->library < deep->count && deep->objects[deep->library].dynamic != deep->map->l_ld)
        deep->library++;
    return deep->library < deep->count && (unsure || deep->library >= deep->before->objects);
}

static int is_named(const struct elf_object *object, const char *needed)
{
    const char *slash = strrchr(object->path, '/');
    if (object->soname && strcmp(object->soname, needed) == 0)
        return 1;
    return strcmp(object->path, needed) == 0 || (slash && strcmp(slash + 1, needed) == 0);
}

/* The loader takes the first object of that name, too. */
static void add_needed(struct deep *deep, const char *needed)
{
    uint32_t found = 0, i = 0;
    while (found < deep->count && !is_named(&deep->objects[found], needed))
        found++;
    while (i < deep->scope_count && deep->scope[i] != found)
        i++;
    if (found < deep->count && i == deep->scope_count)
        deep->scope[deep->scope_count++] = found;
}

static void find_scope(struct deep *deep)
{
    deep->scope[deep->scope_count++] = deep->library;
    for (uint32_t i = 0; i < deep->scope_count; i++) {
        const struct elf_object *object = &deep->objects[deep->scope[i]];
        for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_NEEDED)
                add_needed(deep, object->strings + entry->d_un.d_val);
        }
    }
}

/* What the lazy binding of a reference will find; NULL: nothing in the library's scope, so the shim. */
static const void *first_definition(const struct deep *deep, const struct slot *slot)
{
    const char *version = slot->version[0] ? slot->version : NULL;
    const void *found = NULL;
    for (uint32_t i = 0; i < deep->scope_count && !found; i++)
        found = elf_symbol_version(&deep->objects[deep->scope[i]], slot->name, version);
    return found;
}

/* 1: the address is the C library's. Another library's, but for the driver's, is what the opened library is meant to find.
 */
static int is_libcs(const struct deep *deep, const void *address)
{
    for (uint32_t i = 0; i < deep->count; i++) {
        const struct elf_object *object = &deep->objects[i];
        if ((uintptr_t)address >= object->base && (uintptr_t)address < object->end && elf_is_libc(object))
            return 1;
    }
    return 0;
}

static void reach_slot(const struct elf_object *object, const struct slot *slot, void *data)
{
    const struct deep *deep = data;
    const void *ours = elf_symbol_version(&deep->self, slot->name, slot->version);
    if (!ours)
        return;
    uintptr_t now = __atomic_load_n(slot->at, __ATOMIC_ACQUIRE);
    int lazy = now >= object->base && now < object->end; /* it leads to the object's own code that asks the loader */
    const void *found = lazy ? first_definition(deep, slot) : (const void *)now;
    int twin, id = driver_row(found, &twin);
    if (id < 0 && !is_libcs(deep, found))
        return;
    if (!slots_set(object, slot, id < 0 ? (uintptr_t)ours : (uintptr_t)door_own(id, twin)))
        diag_once(DIAG_ERROR, object->path, " was opened with RTLD_DEEPBIND and could not be reached");
}

/* These two are called once, with the first object, to be in the loader's lock. */
static int look(const struct elf_object *first, void *data)
{
    struct deep *deep = data;
    (void)first;
    loaded_each(collect, deep);
    if (find_library(deep))
        find_scope(deep);
    return 1;
}

/* No two threads may change a page's rights at once. */
static int reach_all(const struct elf_object *first, void *data)
{
    struct deep *deep = data;
    (void)first;
    for (uint32_t i = 0; i < deep->scope_count; i++) {
        if (deep->scope[i] >= deep->library)
            slots_each(&deep->objects[deep->scope[i]], reach_slot, deep);
    }
    return 1;
}

static void reach(struct deep *deep)
{
    loaded_each(look, deep);
    if (deep->scope_count == 0 || !loaded_containing((const void *)(uintptr_t)&reach, &deep->self))
        return;
    /* It may have brought the driver along. */
    for (uint32_t i = 0; i < deep->scope_count; i++)
        driver_owns((const void *)deep->objects[deep->scope[i]].base);
    loaded_each(reach_all, deep);
}

static void look_for_it(const struct link_map *map, const struct deep_before *before)
{
    struct deep_before now = {0};
    dl_iterate_phdr(count_one, &now);
    struct deep deep = {.map = map, .before = before, .room = now.objects};
    size_t size = deep.room * (sizeof *deep.objects + sizeof *deep.scope);
    deep.objects = pages_map(size);
    if (!deep.objects)
        return;
    deep.scope = (uint32_t *)(deep.objects + deep.room);
    reach(&deep);
    pages_unmap(deep.objects, size);
}

void deep_end(const void *handle, const struct deep_before *before)
{
    int saved = errno;
    if (handle)
        look_for_it(handle, before);
    __atomic_fetch_sub(&opening, 1, __ATOMIC_RELEASE);
    errno = saved;
}
