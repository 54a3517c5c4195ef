/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads an object's relocations and writes to the words that they are about. Called by the dlopen door for objects that
 * RTLD_DEEPBIND has bound past the shim. Must not allocate, nor leave a page with other rights than it had.
 */
#include "interpose/base/slots.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "interpose/base/elf.h"

/* A function called, its address taken in code, its address in data. */
#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, TAKEN = R_X86_64_GLOB_DAT, STORED = R_X86_64_64 };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, TAKEN = R_AARCH64_GLOB_DAT, STORED = R_AARCH64_ABS64 };
#endif

struct slots {
    const struct elf_object *object;
    const uint8_t *needed; /* versions of other objects, ElfW(Verneed); NULL none */
    void (*visit)(const struct elf_object *, const struct slot *, void *);
    void *context;
};

static const char *version_in(const struct slots *slots, const ElfW(Verneed) * file, unsigned number)
{
    const uint8_t *at = (const uint8_t *)file + file->vn_aux;
    for (unsigned i = 0; i < file->vn_cnt; i++) {
        const ElfW(Vernaux) *version = (const void *)at;
        if ((version->vna_other & 0x7fffu) == number)
            return slots->object->strings + version->vna_name;
        at += version->vna_next;
    }
    return NULL;
}

static const char *version_of(const struct slots *slots, size_t symbol)
{
    unsigned number = slots->object->versions ? slots->object->versions[symbol] & 0x7fffu : VER_NDX_GLOBAL;
    const uint8_t *at = number > VER_NDX_GLOBAL ? slots->needed : NULL;
    while (at) {
        const ElfW(Verneed) *file = (const void *)at;
        const char *found = version_in(slots, file, number);
        if (found)
            return found;
        at = file->vn_next ? at + file->vn_next : NULL;
    }
    return "";
}

static void look_at(const struct slots *slots, const ElfW(Rela) * relocation)
{
    unsigned long type = ELF64_R_TYPE(relocation->r_info), symbol = ELF64_R_SYM(relocation->r_info);
    const ElfW(Sym) *its = &slots->object->symbols[symbol];
    if ((type != CALLED && type != TAKEN && type != STORED) || relocation->r_addend != 0)
        return;
    if (symbol == STN_UNDEF || its->st_shndx != SHN_UNDEF)
        return;
    struct slot slot = {.at = (uintptr_t *)(slots->object->bias + relocation->r_offset)};
    slot.name = slots->object->strings + its->st_name;
    slot.version = version_of(slots, symbol);
    slots->visit(slots->object, &slot, slots->context);
}

static void look_through(const struct slots *slots, ElfW(Sxword) table, ElfW(Sxword) size)
{
    const ElfW(Rela) *relocations = (const void *)elf_dynamic_address(slots->object, table);
    size_t count = relocations ? elf_dynamic_value(slots->object, size) / sizeof *relocations : 0;
    for (size_t i = 0; i < count; i++)
        look_at(slots, &relocations[i]);
}

void slots_each(const struct elf_object *object, void (*visit)(const struct elf_object *, const struct slot *, void *),
                void *context)
{
    struct slots slots = {object, (const void *)elf_dynamic_address(object, DT_VERNEED), visit, context};
    if (!object->symbols || !object->strings)
        return;
    look_through(&slots, DT_RELA, DT_RELASZ);
    if (elf_dynamic_value(object, DT_PLTREL) == DT_RELA)
        look_through(&slots, DT_JMPREL, DT_PLTRELSZ);
}

/* Whether the address lies in a segment of that type, both of whose ends are rounded down to pages of that size. */
static int lies_in(const struct elf_object *object, uintptr_t address, uint32_t type, uint32_t flags, uintptr_t pages)
{
    for (int i = 0; i < object->segment_count; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];
        uintptr_t start = object->bias + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == type && (segment->p_flags & flags) == flags && address >= (start & -pages) &&
            address < (end & -pages))
            return 1;
    }
    return 0;
}

int slots_set(const struct elf_object *object, const struct slot *slot, uintptr_t value)
{
    uintptr_t size = getauxval(AT_PAGESZ), address = (uintptr_t)slot->at;
    void *page = (void *)(address & -size);
    if (!lies_in(object, address, PT_LOAD, PF_W, 1))
        return 0;
    int sealed = lies_in(object, address, PT_GNU_RELRO, 0, size);
    if (sealed && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
        return 0;
    __atomic_store_n(slot->at, value, __ATOMIC_RELEASE);
    if (sealed)
        mprotect(page, size, PROT_READ);
    return 1;
}
