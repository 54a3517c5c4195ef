/* SPDX-License-Identifier: Apache-2.0
 *
 * Who touched a memory: a row for each lane, since work that nobody waited for hides nobody else's. Rows of work that is
 * done are used again. Called by order.c. Must not call malloc.
 */
#include "interpose/guard/ledger.h"

#include <string.h>

#include "interpose/base/memory.h"

enum { CLASSES = 4, SMALLEST = 4, GROWTH = 4 };
static struct ledger_entry *free_arrays[CLASSES];
static struct ledger *free_ledgers;

static unsigned class_of(unsigned capacity)
{
    unsigned class = 0;
    for (unsigned size = SMALLEST; size < capacity; size *= GROWTH)
        class ++;
    return class;
}

static void give_back(struct ledger_entry *array, unsigned capacity)
{
    unsigned class = class_of(capacity);
    memcpy(array, &free_arrays[class], sizeof free_arrays[class]);
    free_arrays[class] = array;
}

static struct ledger_entry *take(unsigned class)
{
    struct ledger_entry *array = free_arrays[class];
    if (array)
        memcpy(&free_arrays[class], array, sizeof free_arrays[class]);
    else
        array = memory_keep(((size_t)SMALLEST << (2 * class)) * sizeof *array);
    return array;
}

static int grow(struct ledger *ledger)
{
    unsigned class = ledger->capacity ? class_of(ledger->capacity) + 1 : 0;
    struct ledger_entry *larger = class < CLASSES ? take(class) : NULL;
    if (!larger)
        return 0;
    if (ledger->capacity) {
        memcpy(larger, ledger->at, ledger->count * sizeof *larger);
        give_back(ledger->at, ledger->capacity);
    }
    ledger->at = larger;
    ledger->capacity = (uint16_t)(SMALLEST << (2 * class));
    return 1;
}

static struct ledger *ledger_of(struct memory *memory)
{
    if (memory->ledger)
        return memory->ledger;
    struct ledger *ledger = free_ledgers;
    if (ledger)
        memcpy(&free_ledgers, ledger, sizeof free_ledgers);
    else
        ledger = memory_keep(sizeof *ledger);
    if (ledger)
        *ledger = (struct ledger){0};
    return memory->ledger = ledger;
}

void ledger_drop(struct ledger *ledger)
{
    if (ledger->capacity)
        give_back(ledger->at, ledger->capacity);
    memcpy(ledger, &free_ledgers, sizeof free_ledgers);
    free_ledgers = ledger;
}

static int overlap(const struct ledger_span *span, const struct access *access, moment completed)
{
    return span->newest > completed && span->begin < access->end && access->begin < span->end;
}

moment ledger_conflict(const struct ledger_entry *entry, const struct access *access, moment completed, moment *first)
{
    moment newest = 0;
    *first = UINT64_MAX;
    if (overlap(&entry->write, access, completed)) {
        newest = entry->write.newest;
        *first = entry->write.first;
    }
    if (access->writes && overlap(&entry->read, access, completed)) {
        newest = entry->read.newest > newest ? entry->read.newest : newest;
        *first = entry->read.first < *first ? entry->read.first : *first;
    }
    return newest;
}

static int is_done(const struct order *o, const struct ledger_entry *entry)
{
    moment completed = o->lanes[entry->lane]->completed;
    return entry->read.newest <= completed && entry->write.newest <= completed;
}

/* The lane's row, else one that is free again, else a new one. */
static struct ledger_entry *row_of(const struct order *o, struct ledger *ledger, unsigned lane)
{
    struct ledger_entry *done = NULL;
    for (unsigned i = 0; i < ledger->count; i++) {
        if (ledger->at[i].lane == lane)
            return &ledger->at[i];
        if (!done && is_done(o, &ledger->at[i]))
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

static void add(struct ledger_span *span, const struct access *access, moment now, moment completed)
{
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
    struct ledger_entry *row = ledger ? row_of(o, ledger, lane) : NULL;
    if (!row)
        return 0;
    add(access->writes ? &row->write : &row->read, access, now, o->lanes[lane]->completed);
    return 1;
}
