/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a loaded object that the loader fills with other objects' addresses.
 */
#ifndef PTDS_SLOTS_H
#define PTDS_SLOTS_H

#include "interpose/base/elf.h"

struct slot {
    uintptr_t *at;
    const char *name, *version; /* of the reference; version "": none */
};

/* Calls visit for every slot that refers to a symbol which the object itself does not define. The object must have been
 * relocated. */
void slots_each(const struct elf_object *object, void (*visit)(const struct elf_object *, const struct slot *, void *),
                void *context);

/* Replaces what the slot holds, also where the loader has made its page read-only, which the page is again afterwards. Not
 * by two threads at once: the caller sees to that. 0: it could not be done. */
int slots_set(const struct elf_object *object, const struct slot *slot, uintptr_t value);

#endif
