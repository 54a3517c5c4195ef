/* SPDX-License-Identifier: Apache-2.0
 *
 * One loaded object, seen through its ELF structures in memory. Any thread, any time after the loader has started; needs no
 * libc but strcmp, strncmp and strlen, since the auditor has none.
 */
#ifndef PTDS_ELF_H
#define PTDS_ELF_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct elf_object {
    const char *path;    /* the loader's own string; "" for the main program */
    const char *soname;  /* NULL where it has none */
    uintptr_t base, end; /* lowest and one past the highest loaded address */
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const uint16_t *versions; /* of each symbol; NULL where the object has none */
    const void *definitions;  /* the versions that it defines, ElfW(Verdef); NULL none */
    const ElfW(Dyn) * dynamic;
    const ElfW(Phdr) * segments;
    uint16_t segment_count;
};

/* Describes the object that the loader describes so: what its dynamic section says, and as its base the lowest address that
 * it was linked for. No end, no segments. */
void elf_of_map(const struct link_map *map, struct elf_object *out);

/* Fills in what the dynamic section says of an object whose base and bias are known. */
void elf_read_dynamic(struct elf_object *object, const ElfW(Dyn) * dynamic);

/* The address of a function or variable that the object itself defines, any version; NULL: it defines none. */
void *elf_symbol(const struct elf_object *object, const char *name);

/* The same for what a reference to name@version would be bound to: a definition of that version, or of none. */
void *elf_symbol_version(const struct elf_object *object, const char *name, const char *version);

/* What the object's dynamic section says under a tag: a number, or an address in memory; 0 if it says nothing. */
uintptr_t elf_dynamic_value(const struct elf_object *object, ElfW(Sxword) tag);
uintptr_t elf_dynamic_address(const struct elf_object *object, ElfW(Sxword) tag);

/* 1 if the object is the C library, or one of those that were apart from it before glibc 2.34. */
int elf_is_libc(const struct elf_object *object);

#endif
