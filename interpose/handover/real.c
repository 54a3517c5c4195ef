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

void *real_find(enum real function)
{
    const void *own = (const void *)(uintptr_t)&real_find;
    void *found = elf_symbol_behind(own, wanted[function].name, wanted[function].version);
    __atomic_store_n(&real_found[function], found, __ATOMIC_RELAXED);
    return found;
}
