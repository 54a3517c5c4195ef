/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of one table of pointers. Functions that change a table require the tables' lock (pointer_tables.c), and lie
 * between pointer_entries_begin and pointer_entries_end.
 */
#ifndef PTDS_POINTER_ENTRIES_H
#define PTDS_POINTER_ENTRIES_H

#include "interpose/footprint/pointers/pointer_tables.h"

/* Pointers to one memory, in the bytes [begin, end) of another one. */
struct pointer_entry {
    uint64_t begin, end;
    struct memory *memory; /* NULL: `word` tells; that is 0, too: it may point at anything */
    uint32_t uid;          /* the memory's; another one means that it is gone */
    uint64_t
        word; /* an address in no memory: a kernel that follows it reaches what is beside it then, or lies there by now */
};

struct pointer_table {
    uint32_t changes; /* odd: it is changing */
    uint32_t count;
    uint64_t any_begin, any_end; /* where words lie that there was no room for, or that may point at anything; end 0 none */
    uint32_t why;                /* enum opaque_reason of those */
    struct pointer_entry at[TOUCHED_MOST];
    struct pointer_table *next_free;
};

/* Around each change; a reader that meets a change reads once more. */
void pointer_entries_begin(struct pointer_table *table);
void pointer_entries_end(struct pointer_table *table);

/* Removes the entries that lie altogether in [begin, end). Those of memories that are gone may point at anything from now
 * on. */
void pointer_entries_clear(struct pointer_table *table, uint64_t begin, uint64_t end);

/* Adds an entry. Words that point to one memory are one entry, from the first to the last, among those that this copy
 * brought: from number `fresh` on. */
void pointer_entries_add(struct pointer_table *table, uint32_t fresh, struct pointer_entry one);

/* Adds the entries of `from` that lie in [begin, begin + size), moved to `to`. flat 0: rows lie apart, so each entry may be
 * anywhere in the size bytes behind `to`. */
void pointer_entries_spread(struct pointer_table *table, uint64_t to, const struct pointer_table *from, uint64_t begin,
                            uint64_t size, int flat);

/* Fills in what the table's words point at. Takes no lock. 0: the table changed meanwhile, read it again. */
int pointer_entries_read(const struct pointer_table *table, struct pointees *pointees);

#endif
