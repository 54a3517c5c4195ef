/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the functions of specific.h in the loaded objects. Called when a thread gets its state, and when a stack of Python
 * is taken. Must not refer to them by name.
 */
#include "interpose/base/specific.h"

#include <link.h>
#include <stdint.h>

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"

static struct {
    int (*make)(pthread_key_t *, void (*)(void *));
    int (*set)(pthread_key_t, const void *);
    void *(*get)(pthread_key_t);
} functions;
static uint32_t found; /* 1: all are there */

static int look(const struct elf_object *object, void *data)
{
    void **at = data;
    if (elf_is_libc(object))
        at[1] = elf_symbol(object, at[0]);
    return at[1] != NULL;
}

/* By the loader's own list, without a lock; what was loaded later, with the loader's. */
void *specific_function(const char *name)
{
    void *at[2] = {(void *)name, loaded_symbol_after(_DYNAMIC, name)};
    if (!at[1])
        loaded_each(look, at);
    return at[1];
}

int specific_there(void)
{
    if (__builtin_expect(__atomic_load_n(&found, __ATOMIC_ACQUIRE), 1))
        return 1;
    void *make = specific_function("pthread_key_create"), *set = specific_function("pthread_setspecific");
    void *get = specific_function("pthread_getspecific");
    if (!make || !set || !get)
        return 0;
    /* Threads that look at the same time find the same. */
    __atomic_store_n(&functions.make, (__typeof__(functions.make))make, __ATOMIC_RELAXED);
    __atomic_store_n(&functions.set, (__typeof__(functions.set))set, __ATOMIC_RELAXED);
    __atomic_store_n(&functions.get, (__typeof__(functions.get))get, __ATOMIC_RELAXED);
    __atomic_store_n(&found, 1, __ATOMIC_RELEASE);
    return 1;
}

int specific_make(pthread_key_t *key, void (*end)(void *))
{
    return functions.make(key, end);
}

void specific_set(pthread_key_t key, const void *data)
{
    functions.set(key, data);
}

void *specific_get(pthread_key_t key)
{
    return functions.get(key);
}
