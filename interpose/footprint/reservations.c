/* SPDX-License-Identifier: Apache-2.0
 *
 * A reservation is a memory besides those of the chunks that are mapped in it: kernels touch it as a whole, copies their
 * addresses in it. Called by the wrappers, on cold paths. Must not call the driver.
 */
#include "interpose/footprint/reservations.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/touch.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

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

static void add(struct memory *memory)
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
        memories_drop(memory);
}

void reservations_made(struct call *C, const CUdeviceptr *base, size_t bytes)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !base)
        return;
    struct memory *memory = memories_new(PTDS_MEMORY_MAPPED, *base, bytes);
    if (!memory)
        return;
    memory->host |= MEMORY_RESERVATION;
    tables_made(memory);
    memories_widen(*base, *base + bytes);
    add(memory);
}

/* Before the call: afterwards the addresses may be another's at once. */
void fp_unreserve(struct call *C, CUdeviceptr base)
{
    if (!C->footprint)
        return;
    lock_take(&lock);
    for (struct reservation **at = &reservations; *at; at = &(*at)->next) {
        struct reservation *found = *at;
        if (found->memory->base != base)
            continue;
        C->leaving = found->memory;
        begin_change();
        STORE(*at, found->next);
        STORE(found->next, free_reservations);
        end_change();
        free_reservations = found;
        break;
    }
    lock_drop(&lock);
}

void reservations_freed(struct call *C)
{
    if (C->leaving && C->result == CUDA_SUCCESS)
        memories_drop(C->leaving);
    else if (C->leaving)
        add(C->leaving);
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
    lock_take(&lock); /* whoever changes them was interrupted */
    struct memory *memory = search(address);
    lock_drop(&lock);
    return memory;
}

struct memory *reservations_lasting(struct memory *memory, uint64_t address)
{
    if (!(memory->host & MEMORY_RESERVED))
        return memory;
    struct memory *at = reservations_at(address);
    return at ? at : memories_for_table(memory); /* the end of the last chunk */
}

/* Held for the caller. */
static struct memory *at_address(uint64_t address)
{
    lock_take(&lock);
    struct memory *memory = search(address);
    if (memory)
        memories_hold(memory);
    lock_drop(&lock);
    return memory;
}

/* Physical memory that is mapped in two reservations at once joins what they reach: nothing is told apart there any more.
 */
void reservations_take(struct memory *memory, uint64_t base, uint64_t bytes)
{
    struct memory **slot = &((struct memory_object *)memory)->reservation, *before;
    struct memory *now = at_address(base);
    if (!now)
        return;
    before = __atomic_exchange_n(slot, now, __ATOMIC_ACQ_REL);
    if (before && before != now) {
        tables_copied(now, base, before, before->base, bytes, 0);
        if (memories_is_mapped(memory))
            before->host |= MEMORY_SHARED, now->host |= MEMORY_SHARED;
    }
    memory->host |= MEMORY_RESERVED;
    now->host |= memory->host & MEMORY_OTHERS;
    memories_drop(before);
}

void reservations_mark(struct memory *memory, unsigned how)
{
    memory->host |= (uint8_t)how;
    memories_for_table(memory)->host |= (uint8_t)how;
}

void touch_reservation(struct touched *touched, struct memory *memory, int writes)
{
    struct memory *reservation = memories_reservation(memory);
    if (reservation)
        touch_alone(touched, reservation, writes);
}

void reservations_after_fork(void)
{
    lock.held = 0;
    reservations = NULL;
    changes += changes % 2;
}
