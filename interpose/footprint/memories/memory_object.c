/* SPDX-License-Identifier: Apache-2.0
 *
 * Memories as objects. Called by what finds out about memory, on cold paths. Must not call the driver. An object is never
 * given back to the system, since a thread without a lock may still look at it.
 */
#include "interpose/footprint/memories/memory_object.h"

#include "interpose/state/uids.h"
#include "interpose/base/lock.h"
#include "interpose/footprint/memories/unlocked.h"

void (*memory_object_gone)(struct memory *memory);
void (*memory_object_table_gone)(struct pointer_table *table);

static struct lock lock; /* for free_objects */
static struct memory_object *free_objects;

/* Other processes and interfaces count as the host: the program tells them by its own means that work is done. */
static int host_can_touch(uint32_t kind)
{
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED || kind == PTDS_MEMORY_MANAGED ||
           kind == PTDS_MEMORY_IPC || kind == PTDS_MEMORY_EXTERNAL;
}

struct memory *memory_object_new(uint32_t kind, uint64_t base, uint64_t bytes)
{
    lock_take(&lock);
    struct memory_object *object = TAKE(free_objects);
    lock_drop(&lock);
    if (!object)
        return NULL;
    struct memory *memory = &object->memory;
    object->held = 1;
    object->of_graph = 0;
    object->known_since = 0;
    STORE(memory->unknown, UNKNOWN_SOME);
    STORE(memory->parts, 0);
    STORE(memory->base, base);
    STORE(memory->bytes, bytes);
    STORE(memory->kind, (uint8_t)kind);
    STORE(memory->host, (uint8_t)host_can_touch(kind));
    STORE(memory->uid, uids_next(OBJECT_MEMORY));
    memory->context_uid = 0;
    return memory;
}

void memory_object_hold(struct memory *memory)
{
    __atomic_add_fetch(&((struct memory_object *)memory)->held, 1, __ATOMIC_RELAXED);
}

void memory_object_drop(struct memory *memory)
{
    struct memory_object *object = (struct memory_object *)memory;
    if (!memory || __atomic_sub_fetch(&object->held, 1, __ATOMIC_ACQ_REL))
        return;
    if (memory_object_gone)
        memory_object_gone(memory);
    STORE(memory->uid, 0);
    struct pointer_table *table = __atomic_load_n(&object->table, __ATOMIC_ACQUIRE);
    if (table)
        LOAD(memory_object_table_gone)(table);
    STORE(object->table, NULL);
    memory_object_drop(object->reservation);
    STORE(object->reservation, NULL);
    lock_take(&lock);
    GIVE(free_objects, object);
    lock_drop(&lock);
}

int memory_object_is_hosts(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_MANAGED || memory->kind == PTDS_MEMORY_PINNED ||
           memory->kind == PTDS_MEMORY_REGISTERED || (memory->kind == PTDS_MEMORY_GLOBAL && memory->host & 1) ||
           memory->host & MEMORY_HOSTS;
}

void memory_object_after_fork(void)
{
    lock.held = 0;
}
