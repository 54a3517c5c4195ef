/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libc's functions behind the shim's. Called by those at a first call, which may come before any constructor, inside
 * malloc or under the loader lock: must not allocate, or ask the loader to look anything up.
 */
#include "interpose/handover/real.h"

#include <stdint.h>

#include "interpose/base/elf.h"

void *real_found[REAL_COUNT];

static const struct {
    const char *name, *version;
} wanted[REAL_COUNT] = {
#define FUNCTION(name, version, ...) [REAL_##name] = {#name, version},
#include "interpose/handover/functions.def"
    [REAL_pthread_create] = {"pthread_create", GLIBC_FIRST},
    [REAL_pthread_exit] = {"pthread_exit", GLIBC_FIRST},
};

struct search {
    enum real function;
    int passed; /* this object has been seen */
    void *found;
};

static int look_in(const struct elf_object *object, void *data)
{
    struct search *search = data;
    uintptr_t own = (uintptr_t)&look_in;
    if (search->passed)
        search->found = elf_symbol_version(object, wanted[search->function].name, wanted[search->function].version);
    if (own >= object->base && own < object->end)
        search->passed = 1;
    return search->found != NULL;
}

void *real_find(enum real function)
{
    struct search search = {.function = function};
    elf_each(look_in, &search);
    __atomic_store_n(&real_found[function], search.found, __ATOMIC_RELAXED);
    return search.found;
}
