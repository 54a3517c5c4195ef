/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pointers are live handles, and of what. Called by every function that is given a handle, so that a stale or
 * foreign one is answered as the driver answers it (400 mostly) and is never followed.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

struct slot {
    const void *handle; /* NULL: never used; the address of `removed`: used once */
    enum handle_type type;
};

static const char removed;
static struct slot *slots;
static size_t capacity, used, live; /* used counts removed ones too */

static size_t first_slot(const void *handle)
{
    return (((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (capacity - 1);
}

static struct slot *find(const void *handle)
{
    if (!capacity)
        return NULL;
    for (size_t i = first_slot(handle); slots[i].handle; i = (i + 1) & (capacity - 1))
        if (slots[i].handle == handle)
            return &slots[i];
    return NULL;
}

/* Without the removed ones; larger only if the live ones need it. */
static void rehash(void)
{
    struct slot *old = slots;
    size_t old_capacity = capacity;
    if (live * 4 >= capacity)
        capacity = capacity ? capacity * 2 : 1024;
    used = live = 0;
    slots = calloc(capacity, sizeof *slots);
    if (!slots)
        abort();
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].handle && old[i].handle != &removed)
            handle_add(old[i].handle, old[i].type);
    free(old);
}

void handle_add(const void *handle, enum handle_type type)
{
    if (used * 2 >= capacity)
        rehash();
    size_t i = first_slot(handle);
    while (slots[i].handle && slots[i].handle != &removed) /* an address that comes back finds its old place */
        i = (i + 1) & (capacity - 1);
    used += !slots[i].handle;
    slots[i] = (struct slot){handle, type};
    live++;
}

void handle_remove(const void *handle)
{
    struct slot *s = find(handle);
    if (!s)
        return;
    s->handle = &removed;
    live--;
}

bool handle_is(const void *handle, enum handle_type type)
{
    const struct slot *s = handle ? find(handle) : NULL;
    return s && s->type == type;
}
