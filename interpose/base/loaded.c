/* SPDX-License-Identifier: Apache-2.0
 *
 * Goes through the loaded objects. Called by the doors (to find the driver and the real dlsym) and by the recorder (to name
 * call sites). Runs under the loader lock: must not allocate or call anything that may resolve symbols.
 */
#include "interpose/base/loaded.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "interpose/base/elf.h"

static uint32_t note_build_id(uintptr_t at, size_t size, const uint8_t **id)
{
    uintptr_t end = at + size;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        uintptr_t name = at + sizeof *note;
        uintptr_t body = name + ((note->n_namesz + 3u) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp((const void *)name, "GNU", 4) == 0) {
            *id = (const void *)body;
            return note->n_descsz;
        }
        at = body + ((note->n_descsz + 3u) & ~3u);
    }
    return 0;
}

uint32_t loaded_build_id(const struct elf_object *object, const uint8_t **id)
{
    uint32_t size = 0;
    for (int i = 0; i < object->segment_count && !size; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];
        if (segment->p_type == PT_NOTE)
            size = note_build_id(object->bias + segment->p_vaddr, segment->p_memsz, id);
    }
    return size;
}

static void describe(struct elf_object *object, const struct dl_phdr_info *info)
{
    *object = (struct elf_object){.path = info->dlpi_name, .bias = info->dlpi_addr, .base = UINTPTR_MAX};
    object->segments = info->dlpi_phdr;
    object->segment_count = info->dlpi_phnum;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD) {
            object->base = start < object->base ? start : object->base;
            object->end = start + segment->p_memsz > object->end ? start + segment->p_memsz : object->end;
        } else if (segment->p_type == PT_DYNAMIC) {
            dynamic = (const void *)start;
        }
    }
    if (dynamic)
        elf_read_dynamic(object, dynamic);
}

struct each {
    int (*visit)(const struct elf_object *, void *);
    void *context;
};

static int each_object(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct each *each = data;
    struct elf_object object;
    (void)size;
    describe(&object, info);
    return each->visit(&object, each->context);
}

int loaded_each(int (*visit)(const struct elf_object *, void *), void *context)
{
    struct each each = {visit, context};
    return dl_iterate_phdr(each_object, &each);
}

struct containing {
    uintptr_t address;
    struct elf_object *out;
};

static int contains(const struct elf_object *object, void *data)
{
    const struct containing *wanted = data;
    if (wanted->address < object->base || wanted->address >= object->end)
        return 0;
    *wanted->out = *object;
    return 1;
}

int loaded_containing(const void *address, struct elf_object *out)
{
    struct containing wanted = {(uintptr_t)address, out};
    return loaded_each(contains, &wanted);
}

struct behind {
    uintptr_t address;
    const char *name, *version;
    int passed; /* the object with the address has been seen */
    void *found;
};

static int look_behind(const struct elf_object *object, void *data)
{
    struct behind *behind = data;
    if (behind->passed)
        behind->found = elf_symbol_version(object, behind->name, behind->version);
    if (behind->address >= object->base && behind->address < object->end)
        behind->passed = 1;
    return behind->found != NULL;
}

void *loaded_symbol_behind(const void *address, const char *name, const char *version)
{
    struct behind behind = {(uintptr_t)address, name, version, 0, NULL};
    loaded_each(look_behind, &behind);
    return behind.found;
}

/* A C library whose loader keeps no such list has none. */
#pragma weak _r_debug

/* Of a namespace, as glibc lays them out from 2.35 on, where the first one's version is 2. */
struct name_space {
    struct r_debug objects;
    const struct name_space *next;
};

/* Called once, with the first object, to be in the loader's lock. */
static int elsewhere(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct each *each = data;
    const struct name_space *first;
    __asm__("" : "=r"(first) : "0"(&_r_debug)); /* what lies behind it the compiler does not know of */
    (void)info, (void)size;
    if (!first || first->objects.r_version < 2)
        return 0;
    for (const struct name_space *at = first->next; at; at = at->next) {
        for (const struct link_map *map = at->objects.r_map; map; map = map->l_next) {
            struct elf_object object;
            elf_of_map(map, &object);
            int result = each->visit(&object, each->context);
            if (result)
                return result;
        }
    }
    return -1; /* the other objects of the outer walk are not visited */
}

int loaded_each_elsewhere(int (*visit)(const struct elf_object *, void *), void *context)
{
    struct each each = {visit, context};
    int result = dl_iterate_phdr(elsewhere, &each);
    return result == -1 ? 0 : result;
}

void *loaded_symbol_after(const ElfW(Dyn) * dynamic, const char *name)
{
    const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
    void *found = NULL;
    while (map && map->l_ld != dynamic)
        map = map->l_next;
    for (map = map ? map->l_next : NULL; map && !found; map = map->l_next) {
        struct elf_object object;
        elf_of_map(map, &object);
        found = elf_symbol(&object, name);
    }
    return found;
}

char *loaded_program_path(char *buffer, size_t size)
{
    int saved = errno;
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    const char *started = length > 0 ? NULL : (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (started) {
        length = (ssize_t)strnlen(started, size - 1);
        memcpy(buffer, started, (size_t)length);
    }
    buffer[length > 0 ? length : 0] = '\0';
    errno = saved;
    return buffer;
}

const char *loaded_path(const struct elf_object *object, char *buffer, size_t size)
{
    return *object->path ? object->path : loaded_program_path(buffer, size);
}
