/* SPDX-License-Identifier: Apache-2.0
 *
 * The definitions chunks. Called from cold paths of the recorder. Must not call the driver.
 */
#include "interpose/record/file/define.h"

#include <string.h>

#include "interpose/base/clock.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/lock.h"
#include "interpose/record/file/forget.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/state/map.h"

static struct lock lock;
static struct ptds_chunk *chunk;
static uint32_t string_count, stack_count, object_count;
static struct map strings; /* hash of role and text -> id */

#define OBJECTS 4096
static struct {
    uintptr_t base, end;
} objects[OBJECTS];

/* Chunks of definitions, and at how many it is due to forget some. */
static uint32_t chunks, forget_at;
static int forgetting;
/* When and as which the last chunk but one was begun: what has changed since may still be on its way into the records. */
static uint64_t begun[2], begun_sequence[2];

static void forget_now(void);

/* A signal handler may have forked: in the child the interrupted function goes on, while the chunk that it writes to is the
 * parent's. Then nothing is committed. */
static void commit(struct ptds_chunk *in, size_t whole)
{
    if (in == chunk)
        __atomic_store_n(&in->committed, in->committed + whole, __ATOMIC_RELEASE);
}

/* Under the lock, all of these. */
static struct ptds_chunk *next_chunk(void)
{
    size_t old;
    struct ptds_chunk *next = store_chunk(PTDS_CHUNK_DEFINITIONS, 0, &old);
    chunk = next;
    if (!next)
        return NULL;
    if (old)
        commit(next, rescue_pack((uint8_t *)(next + 1), old));
    if (next != chunk)
        return NULL;
    chunks++;
    begun[0] = begun[1];
    begun_sequence[0] = begun_sequence[1];
    begun[1] = clock_ticks();
    begun_sequence[1] = next->sequence;
    uint64_t most = store_header()->limit / PTDS_CHUNK_SIZE / 8;
    if (forget_at < most)
        forget_at = (uint32_t)most;
    if (!forgetting && chunks > forget_at && store_header()->recycled)
        forget_now();
    return chunk;
}

static int fits(const struct ptds_chunk *in, size_t whole)
{
    return in && in->committed + whole <= PTDS_CHUNK_SIZE - sizeof *in;
}

/* The chunk that has room for so much behind what is committed. What is moved to a new chunk may have filled it. */
static struct ptds_chunk *reserve(size_t whole)
{
    struct ptds_chunk *in = chunk;
    for (int tries = 0; tries < 8 && !fits(in, whole); tries++) {
        in = next_chunk();
        if (!in)
            return NULL;
    }
    return fits(in, whole) ? in : NULL;
}

static uint8_t *end_of(struct ptds_chunk *in)
{
    return (uint8_t *)(in + 1) + in->committed;
}

static void append(enum ptds_record_kind kind, void *record, size_t size, const void *tail, size_t tail_size)
{
    size_t whole = (size + tail_size + 7) & ~(size_t)7;
    struct ptds_chunk *in = reserve(whole);
    if (!in) {
        store_refused();
        return;
    }
    uint8_t *at = end_of(in);
    *(struct ptds_record *)record = (struct ptds_record){(uint16_t)kind, (uint16_t)whole, 0};
    memcpy(at, record, size);
    if (tail_size)
        memcpy(at + size, tail, tail_size);
    memset(at + size + tail_size, 0, whole - size - tail_size);
    commit(in, whole);
}

static void append_again(const struct ptds_record *record)
{
    struct ptds_chunk *in = reserve(record->size);
    if (!in) {
        store_refused();
        return;
    }
    memcpy(end_of(in), record, record->size);
    commit(in, record->size);
}

static struct ptds_rec_CLOCK clocks_now(void)
{
    struct clock_reading now = clock_read();
    return (struct ptds_rec_CLOCK){.ticks = now.ticks, .monotonic = now.monotonic, .realtime = now.realtime};
}

/* A process that is killed writes no clocks at its end, and ticks are nothing without two readings: each definition that
 * comes some time after the last reading brings another. */
#define CLOCK_NS 50000000u
static uint64_t last_clock;

static void append_clock_if_due(void)
{
    if (clock_nanoseconds(CLOCK_MONOTONIC) - last_clock < CLOCK_NS)
        return;
    struct ptds_rec_CLOCK record = clocks_now();
    last_clock = record.monotonic;
    append(PTDS_REC_CLOCK, &record, sizeof record, NULL, 0);
}

/* Forks that are not written down yet, and when the last one was. */
static uint32_t forks;
static uint64_t forked;

static uint32_t forks_left(void)
{
    return __atomic_load_n(&forks, __ATOMIC_ACQUIRE);
}

static void append_forks(uint32_t count)
{
    struct ptds_rec_PROCESS record = {.ticks = __atomic_load_n(&forked, __ATOMIC_RELAXED), .what = PTDS_PROCESS_FORK};
    __atomic_sub_fetch(&forks, count, __ATOMIC_RELAXED);
    while (count--)
        append(PTDS_REC_PROCESS, &record, sizeof record, NULL, 0);
}

/* The program may fork in a signal handler that has interrupted the holder of the lock: where the lock is held, the next
 * definition writes the fork, too. */
void define_fork(void)
{
    __atomic_store_n(&forked, clock_ticks(), __ATOMIC_RELAXED);
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELEASE);
    if (!lock_try(&lock))
        return;
    uint32_t count = forks_left();
    if (fits(chunk, count * sizeof(struct ptds_rec_PROCESS)))
        append_forks(count);
    lock_drop(&lock);
}

int define(enum ptds_record_kind kind, void *record, size_t size, const void *tail, size_t tail_size)
{
    size_t largest = PTDS_CHUNK_SIZE - sizeof *chunk - size - 8;
    if (tail_size > largest)
        tail_size = largest & ~(size_t)7;
    lock_take(&lock);
    append(kind, record, size, tail, tail_size);
    append_clock_if_due();
    append_forks(forks_left());
    int kept = chunk != NULL;
    lock_drop(&lock);
    return kept;
}

static uint64_t key_of(uint32_t role, const char *text, size_t length)
{
    uint64_t key = 1469598103934665603u + role;
    for (size_t i = 0; i < length; i++)
        key = (key ^ (uint8_t)text[i]) * 1099511628211u;
    return key | 1;
}

uint32_t define_string(enum ptds_role role, const char *text)
{
    size_t length = strlen(text);
    uint64_t key = key_of(role, text, length);
    uint32_t id = (uint32_t)map_get(&strings, key);
    if (id)
        return id;
    id = __atomic_add_fetch(&string_count, 1, __ATOMIC_RELAXED);
    struct ptds_rec_STRING record = {.id = id, .role = role};
    define(PTDS_REC_STRING, &record, sizeof record, text, length);
    map_set(&strings, key, id);
    return id;
}

/* ---- what is of no use any more ---- */

static uint64_t key_of_record(const struct ptds_rec_STRING *name)
{
    return key_of(name->role, name->text, strnlen(name->text, name->record.size - sizeof *name));
}

/* While references to the name are looked for, a region of the same name gets another id. */
static void name_may_go(const struct ptds_rec_STRING *name)
{
    uint64_t key = key_of_record(name);
    if (map_get(&strings, key) == name->id)
        map_remove(&strings, key);
}

static void name_stays(const struct ptds_rec_STRING *name)
{
    map_get_or_set(&strings, key_of_record(name), name->id);
}

static void forget_now(void)
{
    static const struct forget_calls calls = {append_again, name_may_go, name_stays};
    forgetting = 1;
    chunks -= forget_definitions(begun_sequence[0], begun[0], &calls);
    forgetting = 0;
    forget_at = chunks + chunks / 2;
}

/* Definitions of memory that is gone make room for those of memory that is there: that is looked for when as many bytes
 * were refused as such definitions may take. */
static size_t refused;

static int is_room_for_memories(size_t bytes)
{
    size_t most = store_header()->limit / 2;
    if ((size_t)chunks * PTDS_CHUNK_SIZE < most)
        return 1;
    refused += bytes;
    if (refused >= most) {
        refused = 0;
        forget_now();
    }
    return (size_t)chunks * PTDS_CHUNK_SIZE < most;
}

void define_memories(const uint8_t *records, size_t bytes)
{
    if (!bytes)
        return;
    lock_take(&lock);
    int is_room = is_room_for_memories(bytes);
    for (size_t at = 0; at < bytes; at += sizeof(struct ptds_rec_MEMORY)) {
        if (is_room)
            append_again((const struct ptds_record *)(records + at));
        else
            store_refused();
    }
    lock_drop(&lock);
}

static int object_known(uintptr_t address)
{
    uint32_t known = __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < known && i < OBJECTS; i++) {
        if (address >= objects[i].base && address < objects[i].end)
            return 1;
    }
    return 0;
}

/* Its id; 0 where another thread has just been first. */
static uint32_t remember_object(const struct elf_object *object)
{
    uint32_t id = 0;
    lock_take(&lock);
    if (!object_known(object->base)) {
        uint32_t at = object_count;
        if (at < OBJECTS) {
            objects[at].base = object->base;
            objects[at].end = object->end;
        }
        id = at + 1;
        __atomic_store_n(&object_count, id, __ATOMIC_RELEASE);
    }
    lock_drop(&lock);
    return id;
}

static void define_object(uintptr_t address)
{
    struct elf_object object;
    char program[1024];
    if (object_known(address) || !loaded_containing((const void *)address, &object))
        return;
    const char *path = loaded_path(&object, program, sizeof program);
    struct ptds_rec_OBJECT record = {.base = object.base, .end = object.end, .bias = object.bias};
    const uint8_t *id = NULL;
    uint32_t size = loaded_build_id(&object, &id);
    record.build_id_size = size > 20 ? 20 : size;
    if (id)
        memcpy(record.build_id, id, record.build_id_size);
    if ((record.id = remember_object(&object)) != 0)
        define(PTDS_REC_OBJECT, &record, sizeof record, path, strlen(path));
}

uint32_t define_stack(void *const *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        define_object((uintptr_t)frames[i]);
    struct ptds_rec_STACK record = {.count = count};
    record.id = __atomic_add_fetch(&stack_count, 1, __ATOMIC_RELAXED);
    define(PTDS_REC_STACK, &record, sizeof record, frames, count * sizeof *frames);
    return record.id;
}

int define_can_go_on(void)
{
    return lock_comes_free(&lock);
}

void define_clocks_if_due(void)
{
    lock_take(&lock);
    append_clock_if_due();
    lock_drop(&lock);
}

void define_clocks(void)
{
    struct ptds_rec_CLOCK record = clocks_now();
    define(PTDS_REC_CLOCK, &record, sizeof record, NULL, 0);
}

void define_after_fork(void)
{
    lock.held = 0;
    chunk = NULL;
    last_clock = 0;
    chunks = forget_at = 0;
    forgetting = 0;
    forks = 0;
    refused = 0;
    memset(begun, 0, sizeof begun);
    memset(begun_sequence, 0, sizeof begun_sequence);
    string_count = stack_count = object_count = 0;
    map_reset(&strings);
}
