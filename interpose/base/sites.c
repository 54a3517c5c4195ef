/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the verdict on a call site that was not seen just before. Called by the filter of callers and by stacks, so in some
 * programs for every call: two sites that share a place must not make each other search all objects, so objects are kept
 * too. Must not allocate or wait.
 */
#include "interpose/base/sites.h"

#include "interpose/base/loaded.h"

static int find_object(const struct sites *sites, uintptr_t address)
{
    uint32_t count = __atomic_load_n(&sites->objects, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (address >= sites->object[i].base && address < sites->object[i].end)
            return sites->object[i].verdict;
    return -1;
}

static void keep_object(struct sites *sites, const struct elf_object *object, int verdict)
{
    if (__atomic_exchange_n(&sites->keeping, 1, __ATOMIC_ACQUIRE))
        return;
    if (sites->objects < SITE_OBJECTS && find_object(sites, object->base) < 0) {
        sites->object[sites->objects] = (struct site_object){object->base, object->end, verdict};
        __atomic_store_n(&sites->objects, sites->objects + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&sites->keeping, 0, __ATOMIC_RELEASE);
}

int sites_find(struct sites *sites, const void *caller, sites_decide *decide)
{
    uintptr_t address = (uintptr_t)caller;
    struct elf_object object;
    int verdict = find_object(sites, address);
    if (verdict < 0 && loaded_containing(caller, &object)) {
        verdict = decide(&object, caller);
        keep_object(sites, &object, verdict);
    } else if (verdict < 0) {
        verdict = decide(NULL, caller);
    }
    __atomic_store_n(&sites->word[(address * 2654435761u >> 8) % SITES], address << 2 | (uintptr_t)verdict,
                     __ATOMIC_RELAXED);
    return verdict;
}
