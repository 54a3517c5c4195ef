/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the ELF structures of loaded objects. Called by the doors (to find the driver and the real dlsym) and by the
 * recorder (to name call sites). Runs under the loader lock: must not allocate or call anything that may resolve symbols.
 * Layouts: the System V gABI and the GNU hash section as the loader itself reads it.
 */
#include "interpose/base/elf.h"

#include <string.h>
#include <unistd.h>

static uintptr_t dynamic_address(const struct elf_object *object, ElfW(Addr) value)
{
    /* glibc relocates these entries in place, except on objects whose dynamic section is read-only (the vDSO). */
    return value < object->base ? value + object->bias : value;
}

static void read_dynamic(struct elf_object *object, const ElfW(Dyn) * dynamic)
{
    ElfW(Addr) soname = 0;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        uintptr_t address = dynamic_address(object, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB: object->symbols = (const void *)address; break;
        case DT_STRTAB: object->strings = (const void *)address; break;
        case DT_GNU_HASH: object->gnu_hash = (const void *)address; break;
        case DT_HASH: object->sysv_hash = (const void *)address; break;
        case DT_VERSYM: object->versions = (const void *)address; break;
        case DT_VERDEF: object->definitions = (const void *)address; break;
        case DT_SONAME: soname = dynamic->d_un.d_val; break;
        default: break;
        }
    }
    if (soname && object->strings)
        object->soname = object->strings + soname;
}

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

uint32_t elf_build_id(const struct elf_object *object, const uint8_t **id)
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
    object->dynamic = dynamic;
    if (dynamic)
        read_dynamic(object, dynamic);
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

int elf_each(int (*visit)(const struct elf_object *, void *), void *context)
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

int elf_containing(const void *address, struct elf_object *out)
{
    struct containing wanted = {(uintptr_t)address, out};
    return elf_each(contains, &wanted);
}

/* Whether the object's version number `wanted`, of a symbol, is that name; numbers 0 and 1 are no version. */
static int is_version(const struct elf_object *object, unsigned wanted, const char *name)
{
    const uint8_t *at = object->definitions;
    if (wanted <= VER_NDX_GLOBAL)
        return 1;
    while (at) {
        const ElfW(Verdef) *definition = (const void *)at;
        const ElfW(Verdaux) *its_name = (const void *)(at + definition->vd_aux);
        if (definition->vd_ndx == wanted)
            return strcmp(object->strings + its_name->vda_name, name) == 0;
        at = definition->vd_next ? at + definition->vd_next : NULL;
    }
    return 0;
}

/* What is looked for. */
struct wanted {
    const char *name, *version; /* NULL: any version */
};

static void *defined(const struct elf_object *object, const ElfW(Sym) * symbol, const struct wanted *wanted)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
        return NULL;
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || strcmp(object->strings + symbol->st_name, wanted->name) != 0)
        return NULL;
    if (wanted->version && object->versions &&
        !is_version(object, object->versions[symbol - object->symbols] & 0x7fff, wanted->version))
        return NULL;
    return (void *)(object->bias + symbol->st_value);
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (uint8_t)*name;
    return h;
}

static void *find_gnu(const struct elf_object *object, const struct wanted *wanted)
{
    const uint32_t *table = object->gnu_hash;
    uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
    const uint32_t *bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = gnu_hash_of(wanted->name);
    if (buckets == 0 || bucket[hash % buckets] < first)
        return NULL;
    for (uint32_t i = bucket[hash % buckets];; i++) {
        uint32_t h = chain[i - first];
        if ((h | 1) == (hash | 1)) {
            void *found = defined(object, &object->symbols[i], wanted);
            if (found)
                return found;
        }
        if (h & 1)
            return NULL;
    }
}

static uint32_t sysv_hash_of(const char *name)
{
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (uint8_t)*name;
        h ^= (h >> 24) & 0xf0;
        h &= 0x0fffffff;
    }
    return h;
}

static void *find_sysv(const struct elf_object *object, const struct wanted *wanted)
{
    const uint32_t *bucket = object->sysv_hash + 2, *chain = bucket + object->sysv_hash[0];
    if (object->sysv_hash[0] == 0)
        return NULL;
    for (uint32_t i = bucket[sysv_hash_of(wanted->name) % object->sysv_hash[0]]; i != STN_UNDEF; i = chain[i]) {
        void *found = defined(object, &object->symbols[i], wanted);
        if (found)
            return found;
    }
    return NULL;
}

static void *find(const struct elf_object *object, const struct wanted *wanted)
{
    if (!object->symbols || !object->strings)
        return NULL;
    if (object->gnu_hash)
        return find_gnu(object, wanted);
    return object->sysv_hash ? find_sysv(object, wanted) : NULL;
}

void *elf_symbol(const struct elf_object *object, const char *name)
{
    return find(object, &(struct wanted){name, NULL});
}

void *elf_symbol_version(const struct elf_object *object, const char *name, const char *version)
{
    return find(object, &(struct wanted){name, version});
}

struct behind {
    uintptr_t address;
    struct wanted wanted;
    int passed; /* the object with the address has been seen */
    void *found;
};

static int look_behind(const struct elf_object *object, void *data)
{
    struct behind *behind = data;
    if (behind->passed)
        behind->found = find(object, &behind->wanted);
    if (behind->address >= object->base && behind->address < object->end)
        behind->passed = 1;
    return behind->found != NULL;
}

void *elf_symbol_behind(const void *address, const char *name, const char *version)
{
    struct behind behind = {(uintptr_t)address, {name, version}, 0, NULL};
    elf_each(look_behind, &behind);
    return behind.found;
}

/* A C library whose loader keeps no such list has none. */
#pragma weak _r_debug

void *elf_symbol_after(const ElfW(Dyn) * dynamic, const char *name)
{
    const struct wanted wanted = {name, NULL};
    const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
    void *found = NULL;
    while (map && map->l_ld != dynamic)
        map = map->l_next;
    for (map = map ? map->l_next : NULL; map && !found; map = map->l_next) {
        /* For what is read here, both are where the object lies. */
        struct elf_object object = {.bias = map->l_addr, .base = map->l_addr};
        read_dynamic(&object, map->l_ld);
        found = find(&object, &wanted);
    }
    return found;
}

uintptr_t elf_dynamic_value(const struct elf_object *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    }
    return 0;
}

uintptr_t elf_dynamic_address(const struct elf_object *object, ElfW(Sxword) tag)
{
    uintptr_t value = elf_dynamic_value(object, tag);
    return value ? dynamic_address(object, value) : 0;
}

int elf_is_libc(const struct elf_object *object)
{
    static const char *const parts[] = {"libc.so.", "libdl.so.", "libpthread.so."};
    for (size_t i = 0; object->soname && i < sizeof parts / sizeof *parts; i++) {
        if (strncmp(object->soname, parts[i], strlen(parts[i])) == 0)
            return 1;
    }
    return 0;
}

const char *elf_path(const struct elf_object *object, char *buffer, size_t size)
{
    if (*object->path)
        return object->path;
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    buffer[length > 0 ? length : 0] = '\0';
    return buffer;
}
