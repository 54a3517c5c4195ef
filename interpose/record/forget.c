/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the definitions that are of no use any more: of streams, threads and memory that are gone, of names, and of moments
 * on the device, where the chunks with the records that referred to them have been recycled; and readings of the clocks.
 * Called by definitions.c once in tens of thousands of definitions, when the trace is as large as it may be. Reads all
 * records that there are, while other threads go on writing theirs: what it reads may be torn, so it trusts no size, and to
 * keep too much is harmless. Must not stop those threads.
 */
#include "interpose/record/forget.h"

#include "interpose/base/memory.h"
#include "interpose/record/record.h"
#include "interpose/record/store.h"
#include "interpose/state/thread.h"

#define USED (UINT64_C(1) << 63)
#define BASE_NS UINT64_C(10000000000) /* a time that is on its way names a base of the last two seconds (devicetimes.c) */
#define WORTH_MOVING (PTDS_CHUNK_SIZE / 4)

/* Those that may go: the kind of their definition << 32 | id; USED where some record refers to it. */
struct candidates {
    uint64_t *slots;
    size_t capacity, count; /* a power of two */
};

/* Ticks become times by the first reading and the last one; those between are there for who is killed before the last. */
struct clocks {
    uint64_t first, last; /* ticks */
    uint64_t last_ns;
    uint64_t before; /* ticks of the last one that is older than any base that is still in use; 0: none is */
};

struct walk {
    struct candidates candidates;
    struct clocks clocks;
    uint64_t sequence, ticks;
    const struct forget_calls *calls;
    uint64_t count;
};

typedef void visitor(struct walk *walk, const struct ptds_record *record);

/* ---- records ---- */

static size_t fixed_size(uint32_t kind)
{
    switch (kind) {
    case PTDS_REC_STRING: return sizeof(struct ptds_rec_STRING);
    case PTDS_REC_CLOCK: return sizeof(struct ptds_rec_CLOCK);
    case PTDS_REC_THREAD: return sizeof(struct ptds_rec_THREAD);
    case PTDS_REC_CONTEXT: return sizeof(struct ptds_rec_CONTEXT);
    case PTDS_REC_STREAM: return sizeof(struct ptds_rec_STREAM);
    case PTDS_REC_DEVICE_BASE: return sizeof(struct ptds_rec_DEVICE_BASE);
    case PTDS_REC_MEMORY: return sizeof(struct ptds_rec_MEMORY);
    case PTDS_REC_CALL: return sizeof(struct ptds_rec_CALL);
    case PTDS_REC_REGION: return sizeof(struct ptds_rec_REGION);
    case PTDS_REC_HOST_RUN: return sizeof(struct ptds_rec_HOST_RUN);
    case PTDS_REC_EDGE: return sizeof(struct ptds_rec_EDGE);
    case PTDS_REC_DEVICE_TIME: return sizeof(struct ptds_rec_DEVICE_TIME);
    default: return sizeof(struct ptds_record);
    }
}

static void each_record(struct walk *walk, const struct ptds_chunk *chunk, visitor *visit)
{
    const uint8_t *at = (const uint8_t *)(chunk + 1);
    uint64_t left = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);
    if (left > PTDS_CHUNK_SIZE - sizeof *chunk)
        return;
    while (left >= sizeof(struct ptds_record)) {
        const struct ptds_record *record = (const struct ptds_record *)at;
        size_t size = record->size;
        if (size < sizeof *record || size % 8 || size > left)
            return;
        if (size >= fixed_size(record->kind))
            visit(walk, record);
        at += size;
        left -= size;
    }
}

static uint32_t kind_of(const struct ptds_chunk *chunk)
{
    return __atomic_load_n(&chunk->kind, __ATOMIC_ACQUIRE);
}

static int is_old(const struct walk *walk, const struct ptds_chunk *chunk)
{
    return kind_of(chunk) == PTDS_CHUNK_DEFINITIONS && __atomic_load_n(&chunk->sequence, __ATOMIC_RELAXED) < walk->sequence;
}

/* The newer chunks stay, whatever is in them. */
static void each_definition(struct walk *walk, visitor *old, visitor *newer)
{
    const struct ptds_chunk *chunk;
    for (uint64_t i = 0; (chunk = store_chunk_at(i)); i++) {
        visitor *visit = is_old(walk, chunk) ? old : kind_of(chunk) == PTDS_CHUNK_DEFINITIONS ? newer : NULL;
        if (visit)
            each_record(walk, chunk, visit);
    }
}

static void each_old_definition(struct walk *walk, visitor *visit)
{
    each_definition(walk, visit, NULL);
}

/* ---- clocks ---- */

static void find_ends(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_CLOCK *clock = (const void *)record;
    if (record->kind != PTDS_REC_CLOCK)
        return;
    if (!walk->clocks.last || clock->ticks < walk->clocks.first)
        walk->clocks.first = clock->ticks;
    if (clock->ticks > walk->clocks.last) {
        walk->clocks.last = clock->ticks;
        walk->clocks.last_ns = clock->monotonic;
    }
}

static void find_before(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_CLOCK *clock = (const void *)record;
    if (record->kind == PTDS_REC_CLOCK && clock->monotonic + BASE_NS <= walk->clocks.last_ns &&
        clock->ticks > walk->clocks.before)
        walk->clocks.before = clock->ticks;
}

/* ---- candidates ---- */

static uint64_t *slot_of(struct candidates *set, uint64_t key)
{
    size_t at = (key * 0x9e3779b97f4a7c15u) >> 20 & (set->capacity - 1);
    while (set->slots[at] && (set->slots[at] & ~USED) != key)
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static uint64_t key_of(uint32_t kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

static void add(struct walk *walk, uint32_t kind, uint32_t id)
{
    struct candidates *set = &walk->candidates;
    if ((set->count + 1) * 2 > set->capacity)
        return;
    uint64_t *slot = slot_of(set, key_of(kind, id));
    set->count += *slot == 0;
    *slot = key_of(kind, id);
}

static void use(struct walk *walk, uint32_t kind, uint32_t id)
{
    uint64_t *slot = slot_of(&walk->candidates, key_of(kind, id));
    if (*slot)
        *slot |= USED;
}

static int may_go(struct walk *walk, uint32_t kind, uint32_t id)
{
    return *slot_of(&walk->candidates, key_of(kind, id)) == key_of(kind, id);
}

static int is_candidate(struct walk *walk, uint32_t kind, uint32_t id)
{
    return *slot_of(&walk->candidates, key_of(kind, id)) != 0;
}

/* At most so many slots are needed. */
static void count_one(struct walk *walk, const struct ptds_record *record)
{
    walk->count += record->kind == PTDS_REC_STREAM || record->kind == PTDS_REC_THREAD || record->kind == PTDS_REC_STRING ||
                   record->kind == PTDS_REC_CONTEXT || record->kind == PTDS_REC_MEMORY ||
                   record->kind == PTDS_REC_DEVICE_BASE;
}

/* Kernels and domains are few, and their names are referred to by what stays. */
static int is_regions(const struct ptds_rec_STRING *name)
{
    return name->role == PTDS_ROLE_REGION;
}

static void propose(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_STREAM *stream = (const void *)record;
    const struct ptds_rec_CONTEXT *context = (const void *)record;
    const struct ptds_rec_THREAD *thread = (const void *)record;
    const struct ptds_rec_STRING *name = (const void *)record;
    const struct ptds_rec_MEMORY *memory = (const void *)record;
    const struct ptds_rec_DEVICE_BASE *base = (const void *)record;
    if (record->kind == PTDS_REC_STREAM && stream->state == PTDS_LIFE_GONE && stream->ticks < walk->ticks)
        add(walk, PTDS_REC_STREAM, stream->uid);
    else if (record->kind == PTDS_REC_CONTEXT && context->state == PTDS_LIFE_GONE && context->ticks < walk->ticks)
        add(walk, PTDS_REC_CONTEXT, context->uid);
    else if (record->kind == PTDS_REC_THREAD && thread->state == PTDS_LIFE_GONE && thread->ticks < walk->ticks)
        add(walk, PTDS_REC_THREAD, thread->id);
    else if (record->kind == PTDS_REC_MEMORY && !record_memory_is_there(memory))
        add(walk, PTDS_REC_MEMORY, memory->uid);
    else if (record->kind == PTDS_REC_DEVICE_BASE && base->latest < walk->clocks.before)
        add(walk, PTDS_REC_DEVICE_BASE, base->id);
    else if (record->kind == PTDS_REC_STRING && is_regions(name)) {
        walk->calls->name_may_go(name);
        add(walk, PTDS_REC_STRING, name->id);
    }
}

/* A thread's 0x2 is gone with its thread, and all streams and memory with their context. */
static void propose_with_others(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_STREAM *stream = (const void *)record;
    const struct ptds_rec_MEMORY *memory = (const void *)record;
    if (record->kind == PTDS_REC_MEMORY && is_candidate(walk, PTDS_REC_CONTEXT, memory->context))
        add(walk, PTDS_REC_MEMORY, memory->uid);
    if (record->kind != PTDS_REC_STREAM)
        return;
    if (is_candidate(walk, PTDS_REC_CONTEXT, stream->context) ||
        (stream->kind == PTDS_STREAM_PER_THREAD && is_candidate(walk, PTDS_REC_THREAD, stream->thread)))
        add(walk, PTDS_REC_STREAM, stream->uid);
}

/* ---- what is referred to ---- */

static int is_free(uint8_t op)
{
    return (op >= PTDS_OP_FREE && op <= PTDS_OP_ARRAY_DESTROY) || op == PTDS_OP_FREE_ASYNC;
}

static void use_of_record(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_CALL *call = (const void *)record;
    const struct ptds_rec_REGION *region = (const void *)record;
    const struct ptds_rec_HOST_RUN *run = (const void *)record;
    const struct ptds_rec_EDGE *edge = (const void *)record;
    const struct ptds_rec_DEVICE_TIME *time = (const void *)record;
    switch (record->kind) {
    case PTDS_REC_CALL:
        use(walk, PTDS_REC_STREAM, call->stream);
        use(walk, PTDS_REC_STREAM, call->target);
        use(walk, PTDS_REC_CONTEXT, call->context);
        use(walk, PTDS_REC_STRING, call->region);
        if (is_free(call->op)) /* what came before it may still name the memory */
            use(walk, PTDS_REC_MEMORY, call->object);
        break;
    case PTDS_REC_REGION: use(walk, PTDS_REC_STRING, region->name); break;
    case PTDS_REC_HOST_RUN:
        use(walk, PTDS_REC_STREAM, run->stream);
        use(walk, PTDS_REC_STREAM, run->target);
        use(walk, PTDS_REC_THREAD, run->thread);
        use(walk, PTDS_REC_CONTEXT, run->context);
        break;
    case PTDS_REC_EDGE:
        use(walk, PTDS_REC_STREAM, edge->waits);
        use(walk, PTDS_REC_STREAM, edge->behind);
        break;
    case PTDS_REC_DEVICE_TIME:
        use(walk, PTDS_REC_THREAD, time->thread);
        use(walk, PTDS_REC_DEVICE_BASE, time->base);
        break;
    default: break;
    }
}

static void use_of_all_records(struct walk *walk)
{
    const struct ptds_chunk *chunk;
    for (uint64_t i = 0; (chunk = store_chunk_at(i)); i++) {
        uint32_t kind = kind_of(chunk);
        if (kind != PTDS_CHUNK_CALLS && kind != PTDS_CHUNK_COUNTS)
            continue;
        use(walk, PTDS_REC_THREAD, __atomic_load_n(&chunk->thread, __ATOMIC_RELAXED));
        if (kind == PTDS_CHUNK_CALLS)
            each_record(walk, chunk, use_of_record);
    }
}

/* Regions that threads are in: their next records name them. */
static void use_of_regions(struct walk *walk)
{
    for (const struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        for (unsigned i = 0; i < THREAD_REGIONS; i++)
            use(walk, PTDS_REC_STRING, __atomic_load_n(&thread->regions[i], __ATOMIC_RELAXED));
    }
}

/* Whose a stream is that stays, and in which context. */
static void use_of_definition(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_STREAM *stream = (const void *)record;
    if (record->kind == PTDS_REC_DEVICE_BASE)
        use(walk, PTDS_REC_CONTEXT, ((const struct ptds_rec_DEVICE_BASE *)(const void *)record)->context);
    if (record->kind == PTDS_REC_MEMORY)
        use(walk, PTDS_REC_CONTEXT, ((const struct ptds_rec_MEMORY *)(const void *)record)->context);
    if (record->kind != PTDS_REC_STREAM)
        return;
    use(walk, PTDS_REC_THREAD, stream->thread);
    use(walk, PTDS_REC_CONTEXT, stream->context);
}

static void use_of_those_that_stay(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_STREAM *stream = (const void *)record;
    const struct ptds_rec_MEMORY *memory = (const void *)record;
    const struct ptds_rec_DEVICE_BASE *base = (const void *)record;
    if ((record->kind != PTDS_REC_STREAM || !may_go(walk, PTDS_REC_STREAM, stream->uid)) &&
        (record->kind != PTDS_REC_DEVICE_BASE || !may_go(walk, PTDS_REC_DEVICE_BASE, base->id)) &&
        (record->kind != PTDS_REC_MEMORY || !may_go(walk, PTDS_REC_MEMORY, memory->uid)))
        use_of_definition(walk, record);
}

static void give_names_back(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_STRING *name = (const void *)record;
    if (record->kind == PTDS_REC_STRING && is_regions(name) && !may_go(walk, PTDS_REC_STRING, name->id))
        walk->calls->name_stays(name);
}

/* ---- what goes ---- */

static int is_between(const struct clocks *clocks, const struct ptds_rec_CLOCK *clock)
{
    return clock->ticks != clocks->first && clock->ticks != clocks->last;
}

static int goes(struct walk *walk, const struct ptds_record *record)
{
    switch (record->kind) {
    case PTDS_REC_CLOCK: return is_between(&walk->clocks, (const void *)record);
    case PTDS_REC_DEVICE_BASE:
        return may_go(walk, PTDS_REC_DEVICE_BASE, ((const struct ptds_rec_DEVICE_BASE *)(const void *)record)->id);
    case PTDS_REC_STREAM: return may_go(walk, PTDS_REC_STREAM, ((const struct ptds_rec_STREAM *)(const void *)record)->uid);
    case PTDS_REC_CONTEXT:
        return may_go(walk, PTDS_REC_CONTEXT, ((const struct ptds_rec_CONTEXT *)(const void *)record)->uid);
    case PTDS_REC_THREAD: return may_go(walk, PTDS_REC_THREAD, ((const struct ptds_rec_THREAD *)(const void *)record)->id);
    case PTDS_REC_STRING: return may_go(walk, PTDS_REC_STRING, ((const struct ptds_rec_STRING *)(const void *)record)->id);
    case PTDS_REC_MEMORY: return may_go(walk, PTDS_REC_MEMORY, ((const struct ptds_rec_MEMORY *)(const void *)record)->uid);
    default: return 0;
    }
}

/* In bytes, as far as they are only of clocks. */
static void count_going(struct walk *walk, const struct ptds_record *record)
{
    if (goes(walk, record))
        walk->count += record->kind == PTDS_REC_CLOCK ? record->size : WORTH_MOVING;
}

static void move(struct walk *walk, const struct ptds_record *record)
{
    if (!goes(walk, record))
        walk->calls->again(record);
}

/* Chunks of which something goes: all that may go does, since what stayed would refer to what went; but clocks, to which
 * nothing refers, alone only if they are many. The rest of it moves, which the reader takes for the same once more. */
static uint32_t give_chunks_back(struct walk *walk)
{
    struct ptds_chunk *chunk;
    uint32_t given = 0;
    for (uint64_t i = 0; (chunk = (struct ptds_chunk *)store_chunk_at(i)); i++) {
        if (!is_old(walk, chunk))
            continue;
        walk->count = 0;
        each_record(walk, chunk, count_going);
        if (walk->count < WORTH_MOVING)
            continue;
        each_record(walk, chunk, move);
        store_chunk_back(chunk);
        given++;
    }
    return given;
}

uint32_t forget_definitions(uint64_t sequence, uint64_t ticks, const struct forget_calls *calls)
{
    struct walk walk = {.sequence = sequence, .ticks = ticks, .calls = calls};
    each_old_definition(&walk, count_one);
    size_t capacity = 1024;
    while (capacity < walk.count * 2 + 2)
        capacity *= 2;
    walk.candidates = (struct candidates){memory_pages(capacity * sizeof(uint64_t)), capacity, 0};
    if (!walk.candidates.slots)
        return 0;
    each_definition(&walk, find_ends, find_ends);
    each_definition(&walk, find_before, find_before);
    each_old_definition(&walk, propose);
    each_old_definition(&walk, propose_with_others);
    use_of_all_records(&walk);
    use_of_regions(&walk);
    each_definition(&walk, use_of_those_that_stay, use_of_definition);
    each_old_definition(&walk, give_names_back);
    uint32_t given = give_chunks_back(&walk);
    memory_pages_free(walk.candidates.slots, capacity * sizeof(uint64_t));
    return given;
}
