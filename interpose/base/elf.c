/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the dynamic section and the symbol table of an object in memory. Called for each object that a
 * walk visits (loaded.c), and by the auditor, which has no libc: must call nothing but strcmp, strncmp and strlen. Layouts:
 * the System V gABI and the GNU hash section as the loader itself reads it.
 */
#include "interpose/base/elf.h"

#include <string.h>

static uintptr_t dynamic_address(const struct elf_object *object, ElfW(Addr) value)
{
    /* glibc relocates these entries in place, except on objects whose dynamic section is read-only (the vDSO). */
    return value < object->base ? value + object->bias : value;
}

void elf_read_dynamic(struct elf_object *object, const ElfW(Dyn) * dynamic)
{
    ElfW(Addr) soname = 0;
    object->dynamic = dynamic;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
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

void elf_of_map(const struct link_map *map, struct elf_object *out)
{
    *out = (struct elf_object){.path = map->l_name, .bias = map->l_addr, .base = map->l_addr};
    elf_read_dynamic(out, map->l_ld);
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
