/* SPDX-License-Identifier: Apache-2.0
 *
 * Who touched a memory: a row for each lane, since work that nobody waited for hides nobody else's. Rows of work that is
 * done are used again. Called by order.c. Must not call malloc.
 */
#include "interpose/guard/decide/ledger.h"

#include "interpose/base/pages.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/decide/small_arrays.h"

static struct arrays arrays = {.element = sizeof(struct ledger_entry)};
static struct ledger *unused;

static int grow(struct ledger *ledger)
{
    struct ledger_entry *larger = small_arrays_grow(&arrays, ledger->at, ledger->count, &ledger->capacity);
    if (!larger)
        return 0;
    ledger->at = larger;
    return 1;
}

static struct ledger *ledger_of(struct memory *memory)
{
    if (memory->ledger)
        return memory->ledger;
    struct ledger *ledger = unused;
    if (ledger)
        unused = ledger->next_unused;
    else
        ledger = pages_keep(sizeof *ledger);
    if (ledger)
        *ledger = (struct ledger){0};
    return memory->ledger = ledger;
}

void ledger_drop(struct ledger *ledger)
{
    if (ledger->capacity)
        small_arrays_give_back(&arrays, ledger->at, ledger->capacity);
    ledger->next_unused = unused;
    unused = ledger;
}

static int overlap(const struct ledger_span *span, const struct access *access, moment completed)
{
    return span->newest > completed && span->begin < access->end && access->begin < span->end;
}

static void conflict(const struct ledger_span *span, const struct access *access, moment completed, moment *newest,
                     moment *first)
{
    if (!overlap(span, access, completed))
        return;
    *newest = span->newest > *newest ? span->newest : *newest;
    *first = span->first < *first ? span->first : *first;
}

moment ledger_conflict(const struct ledger_entry *entry, const struct access *access, moment completed, moment *first)
{
    moment newest = 0;
    *first = UINT64_MAX;
    conflict(&entry->write, access, completed, &newest, first);
    conflict(&entry->write_before, access, completed, &newest, first);
    if (!access->writes)
        return newest;
    conflict(&entry->read, access, completed, &newest, first);
    conflict(&entry->read_before, access, completed, &newest, first);
    return newest;
}

static int is_done(const struct order *o, const struct memory *memory, const struct ledger_entry *entry)
{
    moment completed = o->lanes[entry->lane]->completed;
    return entry->read.newest <= completed && entry->write.newest <= completed &&
           !repeat_rights_has(o, entry->lane, memory);
}

/* The lane's row, else one that is free again, else a new one. */
static struct ledger_entry *row_of(const struct order *o, const struct memory *memory, unsigned lane)
{
    struct ledger *ledger = memory->ledger;
    struct ledger_entry *done = NULL;
    for (unsigned i = 0; i < ledger->count; i++) {
        if (ledger->at[i].lane == lane)
            return &ledger->at[i];
        if (!done && is_done(o, memory, &ledger->at[i]))
            done = &ledger->at[i];
    }
    if (!done) {
        if (ledger->count == ledger->capacity && !grow(ledger))
            return NULL;
        done = &ledger->at[ledger->count++];
    }
    *done = (struct ledger_entry){.lane = (uint16_t)lane};
    return done;
}

static int is_whole(const struct ledger_span *span)
{
    return span->begin == 0 && span->end == UINT64_MAX;
}

/* What was all of the memory so far is older than the part that comes now. */
static void put_before(struct ledger_span *span, struct ledger_span *before, moment completed)
{
    moment first = before->newest > completed ? before->first : span->first;
    *before = *span;
    before->first = first;
    span->newest = 0;
}

static void add(struct ledger_span *span, struct ledger_span *before, const struct access *access, moment now,
                moment completed)
{
    if (access->end != UINT64_MAX && is_whole(span) && span->newest > completed)
        put_before(span, before, completed);
    int empty = span->newest <= completed;
    if (empty)
        span->first = now;
    if (empty || access->begin < span->begin)
        span->begin = access->begin;
    if (empty || access->end > span->end)
        span->end = access->end;
    span->newest = now;
}

int ledger_note(const struct order *o, const struct access *access, unsigned lane, moment now)
{
    struct ledger *ledger = ledger_of(access->memory);
    struct ledger_entry *row = ledger ? row_of(o, access->memory, lane) : NULL;
    if (!row)
        return 0;
    add(access->writes ? &row->write : &row->read, access->writes ? &row->write_before : &row->read_before, access, now,
        o->lanes[lane]->completed);
    return 1;
}
