/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the definitions that no record refers to any more, and gives their room back. Called by define.c, under the
 * definitions' lock, once in tens of thousands of definitions, when the trace is as large as it may be. Reads all records,
 * while other threads go on writing theirs: a record may be torn, so no size is trusted, and to keep too much is harmless.
 * Must not stop those threads.
 *
 * A definition goes if all of this holds:
 *   - it lies in an old chunk, one begun before walk.sequence;
 *   - it is a candidate: what it defines was gone before walk.ticks, so that no thread has the number still to write. Names
 *     of regions are candidates always, since the map of names forgets them meanwhile (name_may_go);
 *   - no record of a call, no region that a thread is in and no definition that stays refers to it.
 * All definitions that may go, go in one walk, so none that stays refers to one that went.
 *
 * Marking costs a walk over the trace now and then. To count references would cost each record an atomic addition for each
 * number in it, four of a CALL, on words that all threads share.
 */
#include "interpose/record/file/forget.h"

#include <stddef.h>
#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/state/thread.h"

#define USED (UINT64_C(1) << 63)
#define BASE_NS UINT64_C(10000000000) /* a time on its way names a base of the last two seconds (device_times.c) */
#define WORTH_MOVING (PTDS_CHUNK_SIZE / 4)

/* The candidates: kind of definition << 32 | id, and USED where something refers to it. */
struct candidates {
    uint64_t *slots;        /* open addressing; 0: free */
    size_t capacity, count; /* slots, a power of two; those in use */
};

/* Ticks become times by the first reading and the last one; those between are there for a process that is killed before the
 * last. */
struct clocks {
    uint64_t first, last; /* ticks */
    uint64_t last_ns;
    uint64_t before; /* ticks of the last reading that is older than any base in use; 0: there is none */
};

struct walk {
    struct candidates candidates;
    struct clocks clocks;
    uint64_t sequence, ticks; /* see above */
    const struct forget_calls *calls;
    uint64_t count;
};

typedef void visitor(struct walk *walk, const struct ptds_record *record);

/* ---- records ---- */

/* By kind: bytes without the tail. */
static const uint16_t fixed_size[] = {
#define F(type, name, doc)
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) [id] = sizeof(struct ptds_rec_##NAME),
#include "interpose/trace/records.def"
};
enum { KINDS = sizeof fixed_size / sizeof *fixed_size };

/* By kind of a definition that may go: where its id lies. 0: no definition of that kind goes. */
static const uint16_t id_at[KINDS] = {
    [PTDS_REC_STRING] = offsetof(struct ptds_rec_STRING, id),
    [PTDS_REC_THREAD] = offsetof(struct ptds_rec_THREAD, id),
    [PTDS_REC_CONTEXT] = offsetof(struct ptds_rec_CONTEXT, uid),
    [PTDS_REC_STREAM] = offsetof(struct ptds_rec_STREAM, uid),
    [PTDS_REC_DEVICE_BASE] = offsetof(struct ptds_rec_DEVICE_BASE, id),
    [PTDS_REC_MEMORY] = offsetof(struct ptds_rec_MEMORY, uid),
};

/* By kind of record: which definitions its fields refer to. */
struct reference {
    uint16_t kind, at; /* of the definition, 0: no more; where its id lies in the record */
};
#define REFERENCE(record, field, definition) \
    { \
        PTDS_REC_##definition, offsetof(struct ptds_rec_##record, field) \
    }
enum { REFERENCES = 4 };
static const struct reference references[KINDS][REFERENCES] = {
    [PTDS_REC_CALL] = {REFERENCE(CALL, stream, STREAM), REFERENCE(CALL, target, STREAM), REFERENCE(CALL, context, CONTEXT),
                       REFERENCE(CALL, region, STRING)},
    [PTDS_REC_REGION] = {REFERENCE(REGION, name, STRING)},
    [PTDS_REC_HOST_RUN] = {REFERENCE(HOST_RUN, stream, STREAM), REFERENCE(HOST_RUN, target, STREAM),
                           REFERENCE(HOST_RUN, thread, THREAD), REFERENCE(HOST_RUN, context, CONTEXT)},
    [PTDS_REC_EDGE] = {REFERENCE(EDGE, waits, STREAM), REFERENCE(EDGE, behind, STREAM)},
    [PTDS_REC_DEVICE_TIME] = {REFERENCE(DEVICE_TIME, thread, THREAD), REFERENCE(DEVICE_TIME, base, DEVICE_BASE)},
    [PTDS_REC_STREAM] = {REFERENCE(STREAM, thread, THREAD), REFERENCE(STREAM, context, CONTEXT)},
    [PTDS_REC_MEMORY] = {REFERENCE(MEMORY, context, CONTEXT)},
    [PTDS_REC_DEVICE_BASE] = {REFERENCE(DEVICE_BASE, context, CONTEXT)},
};

/* A kind that the tables do not have refers to nothing and never goes. */
static unsigned row_of(const struct ptds_record *record)
{
    return record->kind < KINDS ? record->kind : 0;
}

static uint32_t number_at(const struct ptds_record *record, uint16_t at)
{
    uint32_t number;
    memcpy(&number, (const uint8_t *)record + at, sizeof number);
    return number;
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
        if (size >= fixed_size[row_of(record)])
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

static uint64_t key_of(uint32_t kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

static uint64_t *slot_of(struct walk *walk, uint32_t kind, uint32_t id)
{
    const struct candidates *set = &walk->candidates;
    const uint64_t key = key_of(kind, id);
    size_t at = (key * 0x9e3779b97f4a7c15u) >> 20 & (set->capacity - 1);
    while (set->slots[at] && (set->slots[at] & ~USED) != key)
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static int is_candidate(struct walk *walk, uint32_t kind, uint32_t id)
{
    return *slot_of(walk, kind, id) != 0;
}

static void add(struct walk *walk, uint32_t kind, uint32_t id)
{
    struct candidates *set = &walk->candidates;
    if ((set->count + 1) * 2 > set->capacity)
        return;
    uint64_t *slot = slot_of(walk, kind, id);
    set->count += *slot == 0;
    *slot = key_of(kind, id);
}

/* At most so many slots are needed. */
static void count_definition(struct walk *walk, const struct ptds_record *record)
{
    walk->count += id_at[row_of(record)] != 0;
}

static int is_gone(const struct walk *walk, uint32_t state, uint64_t ticks)
{
    return state == PTDS_LIFE_GONE && ticks < walk->ticks;
}

/* A thread's 0x2 is gone with its thread, and all streams with their context. */
static int is_stream_gone(struct walk *walk, const struct ptds_rec_STREAM *stream)
{
    return is_gone(walk, stream->state, stream->ticks) || is_candidate(walk, PTDS_REC_CONTEXT, stream->context) ||
           (stream->kind == PTDS_STREAM_PER_THREAD && is_candidate(walk, PTDS_REC_THREAD, stream->thread));
}

/* Names of kernels and domains are few, and definitions that stay refer to them. */
static int is_regions(const struct ptds_record *record)
{
    const struct ptds_rec_STRING *name = (const void *)record;
    return record->kind == PTDS_REC_STRING && name->role == PTDS_ROLE_REGION;
}

static int is_proposed(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_CONTEXT *context = (const void *)record;
    const struct ptds_rec_THREAD *thread = (const void *)record;
    const struct ptds_rec_MEMORY *memory = (const void *)record;
    const struct ptds_rec_DEVICE_BASE *base = (const void *)record;
    switch (record->kind) {
    case PTDS_REC_STREAM: return is_stream_gone(walk, (const void *)record);
    case PTDS_REC_CONTEXT: return is_gone(walk, context->state, context->ticks);
    case PTDS_REC_THREAD: return is_gone(walk, thread->state, thread->ticks);
    case PTDS_REC_MEMORY: return is_candidate(walk, PTDS_REC_CONTEXT, memory->context) || !rescue_memory_is_there(memory);
    case PTDS_REC_DEVICE_BASE: return base->latest < walk->clocks.before;
    default: return is_regions(record);
    }
}

static void propose(struct walk *walk, const struct ptds_record *record)
{
    const uint16_t at = id_at[row_of(record)];
    const uint32_t id = at ? number_at(record, at) : 0;
    if (!at || is_candidate(walk, record->kind, id) || !is_proposed(walk, record))
        return;
    if (is_regions(record))
        walk->calls->name_may_go((const void *)record);
    add(walk, record->kind, id);
}

/* ---- what is referred to ---- */

static void use(struct walk *walk, uint32_t kind, uint32_t id)
{
    uint64_t *slot = slot_of(walk, kind, id);
    if (*slot)
        *slot |= USED;
}

static int is_free(uint8_t op)
{
    return (op >= PTDS_OP_FREE && op <= PTDS_OP_ARRAY_DESTROY) || op == PTDS_OP_FREE_ASYNC;
}

static void use_of_record(struct walk *walk, const struct ptds_record *record)
{
    const struct ptds_rec_CALL *call = (const void *)record;
    const struct reference *next = references[row_of(record)], *end = next + REFERENCES;
    for (; next < end && next->kind; next++)
        use(walk, next->kind, number_at(record, next->at));
    if (record->kind == PTDS_REC_CALL && is_free(call->op)) /* calls before it may still name the memory */
        use(walk, PTDS_REC_MEMORY, call->object);
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

/* The next records of a thread name the regions that it is in. */
static void use_of_regions(struct walk *walk)
{
    for (const struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        for (unsigned i = 0; i < THREAD_REGIONS; i++)
            use(walk, PTDS_REC_STRING, __atomic_load_n(&thread->regions[i], __ATOMIC_RELAXED));
    }
}

/* ---- what goes ---- */

static int is_between(const struct clocks *clocks, const struct ptds_rec_CLOCK *clock)
{
    return clock->ticks != clocks->first && clock->ticks != clocks->last;
}

static int goes(struct walk *walk, const struct ptds_record *record)
{
    const uint16_t at = id_at[row_of(record)];
    if (record->kind == PTDS_REC_CLOCK)
        return is_between(&walk->clocks, (const void *)record);
    const uint32_t id = at ? number_at(record, at) : 0;
    return at && *slot_of(walk, record->kind, id) == key_of(record->kind, id);
}

/* Only threads and contexts are referred to by definitions, and refer to none: one visit of each definition is enough. */
static void use_of_definition_that_stays(struct walk *walk, const struct ptds_record *record)
{
    if (!goes(walk, record))
        use_of_record(walk, record);
}

static void give_name_back(struct walk *walk, const struct ptds_record *record)
{
    if (is_regions(record) && !goes(walk, record))
        walk->calls->name_stays((const void *)record);
}

/* In bytes, of clocks alone; any other definition makes its chunk worth moving. */
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

/* Returns how many chunks were given back. Clocks, to which nothing refers, are no reason by themselves unless they are
 * many. The rest of a chunk moves to another one; the reader takes a definition for the same once more. */
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
    size_t capacity = 1024;
    each_old_definition(&walk, count_definition);
    while (capacity < walk.count * 2 + 2)
        capacity *= 2;
    walk.candidates = (struct candidates){pages_map(capacity * sizeof(uint64_t)), capacity, 0};
    if (!walk.candidates.slots)
        return 0;
    each_definition(&walk, find_ends, find_ends);
    each_definition(&walk, find_before, find_before);
    each_old_definition(&walk, propose);
    each_old_definition(&walk, propose); /* streams and memory that lie before their thread or context */
    use_of_all_records(&walk);
    use_of_regions(&walk);
    each_definition(&walk, use_of_definition_that_stays, use_of_record);
    each_old_definition(&walk, give_name_back);
    uint32_t given = give_chunks_back(&walk);
    pages_unmap(walk.candidates.slots, capacity * sizeof(uint64_t));
    return given;
}
