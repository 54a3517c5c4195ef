/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of reservations. Called by the wrappers on cold paths, and where pointers are followed. Must not call the
 * driver.
 */
#include "interpose/footprint/memories/reservations.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/footprint/memories/unlocked.h"

struct reservation {
    struct memory *memory; /* held */
    struct reservation *next;
};

static struct reservation *reservations, *free_reservations;
static uint32_t changes; /* odd: the list is changing */
static struct lock lock;

static void begin_change(void)
{
    STORE(changes, changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(void)
{
    __atomic_store_n(&changes, changes + 1, __ATOMIC_RELEASE);
}

void reservations_add(struct memory *memory)
{
    lock_take(&lock);
    struct reservation *made = free_reservations;
    if (made)
        free_reservations = made->next;
    else
        made = pages_keep(sizeof *made);
    if (made) {
        begin_change();
        STORE(made->memory, memory);
        STORE(made->next, reservations);
        STORE(reservations, made);
        end_change();
    }
    lock_drop(&lock);
    if (!made)
        memory_object_drop(memory);
}

struct memory *reservations_remove(uint64_t base)
{
    struct memory *memory = NULL;
    lock_take(&lock);
    for (struct reservation **at = &reservations; *at; at = &(*at)->next) {
        struct reservation *found = *at;
        if (found->memory->base != base)
            continue;
        memory = found->memory;
        begin_change();
        STORE(*at, found->next);
        STORE(found->next, free_reservations);
        end_change();
        free_reservations = found;
        break;
    }
    lock_drop(&lock);
    return memory;
}

static struct memory *search(uint64_t address)
{
    for (const struct reservation *at = LOAD(reservations); at; at = LOAD(at->next)) {
        struct memory *memory = LOAD(at->memory);
        if (address - LOAD(memory->base) < LOAD(memory->bytes))
            return memory;
    }
    return NULL;
}

struct memory *reservations_at(uint64_t address)
{
    for (int tries = 0; LOAD(reservations) && tries < 64; tries++) {
        uint32_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
        struct memory *memory = before % 2 == 0 ? search(address) : NULL;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && LOAD(changes) == before)
            return memory;
    }
    if (!LOAD(reservations))
        return NULL;
    lock_take(&lock); /* the thread that makes the change was interrupted in it */
    struct memory *memory = search(address);
    lock_drop(&lock);
    return memory;
}

struct memory *reservations_lasting(struct memory *memory, uint64_t address)
{
    if (!(memory->host & MEMORY_RESERVED))
        return memory;
    struct memory *at = reservations_at(address);
    return at ? at : memory_object_table_owner(memory); /* the address is the end of the last chunk */
}

struct memory *reservations_hold_at(uint64_t address)
{
    lock_take(&lock);
    struct memory *memory = search(address);
    if (memory)
        memory_object_hold(memory);
    lock_drop(&lock);
    return memory;
}

void reservations_mark(struct memory *memory, unsigned how)
{
    memory->host |= (uint8_t)how;
    memory_object_table_owner(memory)->host |= (uint8_t)how;
}

void reservations_after_fork(void)
{
    lock.held = 0;
    reservations = NULL;
    changes += changes % 2;
}
