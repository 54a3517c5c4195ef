/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded objects seen through their ELF structures: what dlsym and dladdr would say, without their locks, their dlerror
 * state, or the question of which dlsym. Any thread, any time after the loader has started; allocates nothing.
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

/* Calls visit for every object in load order until it returns non-zero; returns that. The object is valid inside the call.
 */
int elf_each(int (*visit)(const struct elf_object *, void *), void *context);

/* The same for the objects of the other namespaces that dlmopen has made, where the loader tells of them (glibc 2.35 on).
 * Of an object there only what its dynamic section says is known (elf_of_map). */
int elf_each_elsewhere(int (*visit)(const struct elf_object *, void *), void *context);

/* The object that contains the address; 0 if none does. */
int elf_containing(const void *address, struct elf_object *out);

/* Of an object that the loader describes so: what its dynamic section says, and as its base the lowest address that it was
 * linked for. No end, no segments. */
void elf_of_map(const struct link_map *map, struct elf_object *out);

/* Fills in what the dynamic section says of an object whose base and bias are known. */
void elf_read_dynamic(struct elf_object *object, const ElfW(Dyn) * dynamic);

/* The GNU build id; returns its size, 0 if there is none. */
uint32_t elf_build_id(const struct elf_object *object, const uint8_t **id);

/* Puts the program's path into the buffer: the one that the kernel knows; without /proc the one that it was started by,
 * which may be relative. Returns the buffer. Keeps errno. */
char *elf_program_path(char *buffer, size_t size);

/* The object's path; of the main program elf_program_path's, put into the buffer. */
const char *elf_path(const struct elf_object *object, char *buffer, size_t size);

/* The address of a function or variable that the object itself defines, any version; NULL if it does not. */
void *elf_symbol(const struct elf_object *object, const char *name);

/* The same for what a reference to name@version would be bound to: one of that version, or of none. */
void *elf_symbol_version(const struct elf_object *object, const char *name, const char *version);

/* The first definition behind the object that contains the address, in load order, as RTLD_NEXT would find it; NULL if
 * there is none. Version NULL: any. */
void *elf_symbol_behind(const void *address, const char *name, const char *version);

/* The same from the object with that dynamic section on, by the loader's own list: no function of anybody's is called, so
 * this works before any constructor has run and where somebody else's dl_iterate_phdr is not ready yet (strcmp is the
 * library's own, own_strings.c). For
 * objects that the program started with only, since the list is read without a lock. */
void *elf_symbol_after(const ElfW(Dyn) * dynamic, const char *name);

/* What the object's dynamic section says under a tag: a number, or an address in memory; 0 if it says nothing. */
uintptr_t elf_dynamic_value(const struct elf_object *object, ElfW(Sxword) tag);
uintptr_t elf_dynamic_address(const struct elf_object *object, ElfW(Sxword) tag);

/* 1 if it is the C library, or one of those that were apart from it before glibc 2.34. */
int elf_is_libc(const struct elf_object *object);

#endif
