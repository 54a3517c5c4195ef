/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of one table of pointers. For tables.c.
 */
#ifndef PTDS_ENTRIES_H
#define PTDS_ENTRIES_H

#include "interpose/footprint/tables.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* To a memory, in the bytes [begin, end) of another one. */
struct pointed {
    uint64_t begin, end;
    struct memory *memory; /* NULL: `word` tells; that is 0, too: it may point at anything */
    uint32_t uid;          /* the memory's; another one means that it is gone */
    uint64_t word; /* an address in no memory: whoever follows it looks what is beside it then, or lies there by now */
};

struct table {
    uint32_t changes; /* odd: it is changing */
    uint32_t count;
    uint64_t any_begin, any_end; /* where words lie that there was no room for, or that may point at anything; end 0 none */
    uint32_t why;                /* enum opaque_reason of those */
    struct pointed at[TOUCHED_MOST];
    struct table *next_free;
};

/* Around every change; whoever reads meanwhile does so once more. */
void entries_begin(struct table *table);
void entries_end(struct table *table);

/* Entries that lie in there altogether go. Those of memories that are gone may point at anything from now on. */
void entries_clear(struct table *table, uint64_t begin, uint64_t end);

/* Words of one memory are one entry, from the first to the last, among those that this copy brought: from `fresh` on. */
void entries_add(struct table *table, uint32_t fresh, struct pointed one);

/* Entries of `from` that lie in [begin, begin + size), moved to `to`. Where rows lie apart, each may be anywhere in it. */
void entries_spread(struct table *table, uint64_t to, const struct table *from, uint64_t begin, uint64_t size, int flat);

/* What the table's words point at. 0: it changed meanwhile. */
int entries_read(const struct table *table, struct pointees *pointees);

#endif
