/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the libraries that export functions of the driver's names, beside the driver. One that stands behind the shim in
 * the program's search order would get the linked calls without the shim, so it must get them with it: the wrappers call it
 * in the driver's place. Called by the doors before their first answer, also inside dlsym: must not allocate, lock or load.
 *
 * Only what the program started with is in that order for certain: whether a library that was opened later is, the loader
 * does not tell.
 */
#include "interpose/driver/others.h"

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/driver/driver.h"

void *others_function[API_COUNT][2];
__thread uint32_t others_linked __attribute__((tls_model("initial-exec")));

static uint32_t looked;       /* others_function is as it will stay: 1 there are none, 2 there are */
static uint32_t started_with; /* objects; 0: no constructor has run, so there are no others yet */

static int count_one(const struct elf_object *object, void *count)
{
    (void)object;
    ++*(uint32_t *)count;
    return 0;
}

/* What a library's constructor opened before this one ran counts, too. */
__attribute__((constructor)) static void count_start(void)
{
    uint32_t count = 0;
    loaded_each(count_one, &count);
    __atomic_store_n(&started_with, count, __ATOMIC_RELAXED);
}

/* A walk over the objects that the program started with, in load order, which is the search order. */
struct walk {
    uint32_t left;
    int behind, any; /* the shim has been passed; it found something */
    void (*visit)(const struct elf_object *object, uint32_t functions, void *);
    void *context;
};

static int is_self(const struct elf_object *object)
{
    uintptr_t here = (uintptr_t)&others_function;
    return here >= object->base && here < object->end;
}

static void take(void **place, void *found, int *any)
{
    if (!found || __atomic_load_n(place, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(place, found, __ATOMIC_RELAXED);
    *any = 1;
}

/* Two threads may do this at once: they write the same. */
static int look_in(const struct elf_object *object, void *data)
{
    struct walk *walk = data;
    if (walk->left-- == 0)
        return 1;
    if (!walk->behind) {
        walk->behind = is_self(object);
        return 0;
    }
    if (driver_is(object))
        return 1; /* it has all the rest */
    for (int id = 0; id < API_COUNT; id++) {
        take(&others_function[id][0], elf_symbol(object, api_rows[id].symbol), &walk->any);
        if (api_rows[id].twin_symbol)
            take(&others_function[id][1], elf_symbol(object, api_rows[id].twin_symbol), &walk->any);
    }
    return 0;
}

static uint32_t at_start(void)
{
    uint32_t count = __atomic_load_n(&started_with, __ATOMIC_RELAXED);
    return count ? count : UINT32_MAX;
}

int others_look(void)
{
    uint32_t known = __atomic_load_n(&looked, __ATOMIC_ACQUIRE);
    if (__builtin_expect(known == 0, 0)) {
        struct walk walk = {.left = at_start()};
        loaded_each(look_in, &walk);
        known = walk.any ? 2 : 1;
        __atomic_store_n(&looked, known, __ATOMIC_RELEASE);
    }
    return known == 2;
}

static int count_in(const struct elf_object *object, void *data)
{
    struct walk *walk = data;
    uint32_t functions = 0;
    if (walk->left-- == 0)
        return 1;
    if (is_self(object) || driver_is(object))
        return 0;
    for (int id = 0; id < API_COUNT; id++) {
        functions += elf_symbol(object, api_rows[id].symbol) != NULL;
        functions += api_rows[id].twin_symbol && elf_symbol(object, api_rows[id].twin_symbol);
    }
    if (functions)
        walk->visit(object, functions, walk->context);
    return 0;
}

void others_each(void (*visit)(const struct elf_object *object, uint32_t functions, void *), void *context)
{
    struct walk walk = {.left = at_start(), .visit = visit, .context = context};
    loaded_each(count_in, &walk);
}
