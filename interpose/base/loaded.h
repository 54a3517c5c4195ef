/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that the loader has loaded: what dlsym and dladdr would say of them, without their locks, their dlerror
 * state, or the question of which dlsym. Any thread, any time after the loader has started; allocates nothing.
 */
#ifndef PTDS_LOADED_H
#define PTDS_LOADED_H

#include "interpose/base/elf.h"

/* Calls visit for each object in load order, in the loader's lock, until visit returns non-zero; returns that, else 0. The
 * object is valid inside the call. */
int loaded_each(int (*visit)(const struct elf_object *, void *), void *context);

/* The same for the objects of the other namespaces that dlmopen has made, where the loader tells of them (glibc 2.35 on).
 * An object there has what its dynamic section says (elf_of_map), and no more. */
int loaded_each_elsewhere(int (*visit)(const struct elf_object *, void *), void *context);

/* The object that contains the address; 0: no object does. */
int loaded_containing(const void *address, struct elf_object *out);

/* The GNU build id; returns its size in bytes, 0: there is none. */
uint32_t loaded_build_id(const struct elf_object *object, const uint8_t **id);

/* Puts the program's path into the buffer: the kernel's; without /proc the one that the program was started by, which may
 * be relative. Returns the buffer. Keeps errno. */
char *loaded_program_path(char *buffer, size_t size);

/* The object's path; the main program's is loaded_program_path's, put into the buffer. */
const char *loaded_path(const struct elf_object *object, char *buffer, size_t size);

/* The first definition behind the object that contains the address, in load order, as RTLD_NEXT would find it; NULL: there
 * is none. Version NULL: any. */
void *loaded_symbol_behind(const void *address, const char *name, const char *version);

/* The same behind the object with that dynamic section, by the loader's own list: no function of another library is called,
 * so this works before any constructor has run and where another library's dl_iterate_phdr is not ready yet (strcmp is the
 * shim's own, doors/own_strings.c). Only for objects that the program started with: the list is read without a lock. */
void *loaded_symbol_after(const ElfW(Dyn) * dynamic, const char *name);

#endif
