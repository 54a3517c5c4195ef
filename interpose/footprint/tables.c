/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of pointers. Filled after copies that succeeded, read by launches: without a lock, and once more where somebody
 * changed the table meanwhile. A table is of bounded size; what does not fit may point at anything. Must never know more
 * than lies there: whatever way bytes come that nobody has seen at the time at which they are read, the memory hides
 * pointers from then on, until all of it is filled anew.
 */
#include "interpose/footprint/tables.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/footprint/entries.h"
#include "interpose/footprint/modules.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/reservations.h"
#include "interpose/footprint/scan.h"

uint32_t tables_are_followed;

static struct table *free_tables;
static struct lock lock;           /* for all tables: copies of pointers are rare */
static uint64_t unknown_works = 1; /* grows with work that may have put pointers anywhere */

static struct table *known_table(struct memory *memory)
{
    return __atomic_load_n(memories_table(memory), __ATOMIC_ACQUIRE);
}

static struct table *table_of(struct memory *memory, int make)
{
    if (known_table(memory) || !make)
        return known_table(memory);
    struct table *made = free_tables;
    if (made)
        free_tables = made->next_free;
    else
        made = pages_keep(sizeof *made);
    if (made) {
        STORE(made->count, 0);
        STORE(made->any_end, 0);
        __atomic_store_n(memories_table(memory), made, __ATOMIC_RELEASE);
    }
    return made;
}

void tables_give_back(struct table *table)
{
    lock_take(&lock);
    table->next_free = free_tables;
    free_tables = table;
    lock_drop(&lock);
}

static uint64_t *since(struct memory *memory)
{
    return &((struct memory_object *)memory)->known_since;
}

uint64_t tables_works(void)
{
    return __atomic_load_n(&unknown_works, __ATOMIC_ACQUIRE);
}

int tables_is_hosts(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_MANAGED || memory->kind == PTDS_MEMORY_PINNED ||
           memory->kind == PTDS_MEMORY_REGISTERED || (memory->kind == PTDS_MEMORY_GLOBAL && memory->host & 1) ||
           memory->host & MEMORY_HOSTS;
}

/* The host's, other processes', or perhaps another memory's bytes. */
static int others_store_there(struct memory *memory)
{
    if (memory->kind == PTDS_MEMORY_GLOBAL && memory->host)
        return modules_are_hosts(memory);
    return tables_is_hosts(memory) || memory->host & MEMORY_OTHERS;
}

int tables_may_hide(struct memory *memory, int constants)
{
    struct memory *where = memories_for_table(memory);
    if (others_store_there(memory) || (where != memory && others_store_there(where)))
        return 1;
    uint8_t unknown = LOAD(where->unknown), how = (uint8_t)(constants ? UNKNOWN_SOME : UNKNOWN_SOME | UNKNOWN_BY_KERNELS);
    return unknown & how || LOAD(*since(where)) != tables_works();
}

void tables_read(struct memory *memory, struct pointees *pointees)
{
    const struct table *table = known_table(memories_for_table(memory));
    pointees->count = 0;
    pointees->why = OPAQUE_NO;
    for (int tries = 0; table && !entries_read(table, pointees); tries++) {
        if (tries == 64) {
            pointees->why = OPAQUE_POINTERS;
            return;
        }
    }
}

void tables_made_at(struct memory *memory, uint64_t works)
{
    STORE(*since(memory), works);
    STORE(memory->unknown, 0);
}

void tables_made(struct memory *memory)
{
    tables_made_at(memory, tables_works());
}

void tables_unknown_work(void)
{
    __atomic_add_fetch(&unknown_works, 1, __ATOMIC_RELEASE);
}

void tables_filled_unseen(struct memory *memory)
{
    tables_stored(memory);
}

static int is_all(const struct memory *memory, uint64_t begin, uint64_t end)
{
    uint64_t bytes = LOAD(memory->bytes);
    return bytes > 1 && begin <= LOAD(memory->base) && end >= LOAD(memory->base) + bytes;
}

/* It makes no difference what comes to a part of it. */
static int is_lost(struct memory *memory, int all)
{
    return tables_is_hosts(memory) || (!all && tables_may_hide(memory, 1));
}

static void cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    if (!known_table(memory))
        return;
    lock_take(&lock);
    struct table *table = table_of(memory, 0);
    if (table) {
        entries_begin(table);
        entries_clear(table, begin, end);
        entries_end(table);
    }
    lock_drop(&lock);
}

void tables_cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    uint64_t works = tables_works(); /* what comes meanwhile is not seen */
    int all = is_all(memory, begin, end);
    if (is_lost(memory, all))
        return;
    cleared(memory, begin, end);
    if (all)
        tables_made_at(memory, works);
}

/* ---- bytes of the host's ---- */

/* Numbers that may be addresses of memory which no call told of: what kernels allocate lies among the rest. */
enum { WIDER = 36 };
static struct span wider(unsigned which)
{
    struct span span = memories_spans().at[which];
    if (!which || !span.numbers)
        return span;
    uint64_t low = span.low >> WIDER << WIDER, high = ((span.low + span.numbers - 1) >> WIDER) + 1;
    low = low >> 40 ? low : UINT64_C(1) << 40;
    return (struct span){low, (high << WIDER) - low};
}

/* What is being filled. */
struct filling {
    struct thread *thread;
    struct memory *memory;
    struct table *table;
    uint64_t begin;
    const uint8_t *bytes;
    size_t size;
    uint32_t fresh;
};

static void note_one(const struct filling *f, size_t at, struct memory *memory)
{
    struct pointed one = {f->begin + at, f->begin + at + sizeof(uint64_t), memory, memory ? LOAD(memory->uid) : 0, 0};
    entries_add(f->table, f->fresh, one);
}

/* In none: the end of one, or before the beginning of another. */
static void note_outside(const struct filling *f, size_t at, uint64_t word)
{
    struct pointed one = {f->begin + at, f->begin + at + sizeof(uint64_t), NULL, 0, word};
    entries_add(f->table, f->fresh, one);
}

/* A word that means no memory points at anything, if a kernel could load it as a pointer. */
static void note_word(const struct filling *f, size_t at, uint64_t word)
{
    struct memory *found[TOUCHED_MOST];
    if (!word)
        return;
    unsigned count = memories_around(f->thread, word, found, TOUCHED_MOST);
    if (count && !memories_find(f->thread, word).memory)
        note_outside(f, at, word);
    else if (!count && (f->begin + at) % 4 == 0)
        note_one(f, at, NULL);
    else
        for (unsigned i = 0; i < count; i++)
            note_one(f, at, reservations_lasting(found[i], word));
}

static void note_words(const struct filling *f)
{
    struct scan scan;
    for (unsigned i = 0; i < SPANS; i++) {
        for (scan_begin(&scan, wider(i), f->bytes, f->size); scan.at != SIZE_MAX; scan_on(&scan))
            note_word(f, scan.at, scan_word(&scan));
    }
}

static int has_words(const uint8_t *bytes, size_t size)
{
    struct scan scan;
    for (unsigned i = 0; i < SPANS; i++) {
        scan_begin(&scan, wider(i), bytes, size);
        if (scan.at != SIZE_MAX)
            return 1;
    }
    return 0;
}

static int are_zeros(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++)
        any |= bytes[i];
    return !any;
}

/* The upper half of some address. */
static int is_upper_half(const uint8_t *bytes)
{
    uint32_t half;
    memcpy(&half, bytes, sizeof half);
    for (unsigned i = 0; half && i < SPANS; i++) {
        struct span span = wider(i);
        if (span.numbers && half >= span.low >> 32 && half <= (span.low + span.numbers - 1) >> 32)
            return 1;
    }
    return 0;
}

/* With bytes that lay there before, those at an edge may make a pointer: the two halves of one come one by one. */
static int makes_words(struct thread *thread, uint64_t begin, const uint8_t *bytes, size_t size)
{
    const struct place place = memories_find(thread, begin);
    uint64_t end = begin + size, edge = size < 8 ? size : 8;
    int first = begin == place.begin, last = end == place.end;
    if ((begin % 8 && !first) || (end % 8 && !last))
        return !are_zeros(bytes, edge) || !are_zeros(bytes + size - edge, edge);
    return !first && size >= 4 && is_upper_half(bytes);
}

/* 0: there is no memory for it. */
static int note_filled(struct filling *f)
{
    int some = has_words(f->bytes, f->size);
    if (!some && !known_table(f->memory))
        return 1;
    lock_take(&lock);
    f->table = table_of(f->memory, some);
    if (f->table) {
        entries_begin(f->table);
        entries_clear(f->table, f->begin, f->begin + f->size);
        f->fresh = f->table->count;
        note_words(f);
        entries_end(f->table);
    }
    lock_drop(&lock);
    return f->table || !some;
}

void tables_filled(struct thread *thread, struct memory *memory, uint64_t begin, const uint8_t *bytes, size_t size)
{
    uint64_t works = tables_works(); /* what comes meanwhile is not seen */
    int all = is_all(memory, begin, begin + size);
    struct filling filling = {thread, memory, NULL, begin, bytes, size, 0};
    if (is_lost(memory, all) || !note_filled(&filling) || makes_words(thread, begin, bytes, size) ||
        (pageable_is_read() && pageable_among(thread, bytes, -begin % 8, size)))
        tables_filled_unseen(memory);
    else if (all)
        tables_made_at(memory, works);
}

/* ---- bytes of another memory ---- */

/* 0: there is no memory for it. */
static int copy_table(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                      int flat)
{
    lock_take(&lock);
    const struct table *source = table_of(from, 0);
    struct table *table = table_of(to, source != NULL);
    if (table) {
        struct table copied;
        copied.count = 0, copied.any_end = 0;
        if (source)
            copied = *source; /* it may be the same */
        entries_begin(table);
        if (flat)
            entries_clear(table, to_begin, to_begin + size);
        entries_spread(table, to_begin, &copied, from_begin, size, flat);
        entries_end(table);
    }
    lock_drop(&lock);
    return table || !source;
}

void tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size, int flat)
{
    uint64_t works = tables_works(); /* what comes meanwhile is not seen */
    int all = flat && is_all(to, to_begin, to_begin + size);
    int cuts = flat && !all && (to_begin | from_begin | size) % 8 != 0;
    if (cuts || from->kind == PTDS_MEMORY_ARRAY || tables_may_hide(from, 0) || is_lost(to, all) ||
        !copy_table(to, to_begin, from, from_begin, size, flat))
        tables_filled_unseen(to);
    else if (all)
        tables_made_at(to, works);
}

/* ---- kernels ---- */

/* Of a module's variables, if they were written by name alone, the constant ones are as they were. */
static void written(struct memory *memory, const struct memory *variables)
{
    if (memory != variables)
        tables_stored(memory);
    else if (!LOAD(memory->unknown))
        STORE(memory->unknown, UNKNOWN_BY_KERNELS);
}

void tables_written(const struct touched *touched, const struct memory *variables)
{
    if (touched->opaque)
        tables_unknown_work();
    for (unsigned i = 0; i < touched->count; i++) {
        if (touched->at[i].writes)
            written(touched->at[i].memory, variables);
    }
}

void tables_filled_by(const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        if (touched->at[i].writes)
            tables_stored(touched->at[i].memory);
    }
}

void tables_after_fork(void)
{
    lock.held = 0;
}
