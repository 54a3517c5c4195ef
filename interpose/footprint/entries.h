/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of one table of pointers. For tables.c.
 */
#ifndef PTDS_ENTRIES_H
#define PTDS_ENTRIES_H

#include "interpose/footprint/tables.h"

struct table {
    uint32_t changes; /* odd: it is changing */
    uint32_t count;
    uint32_t since; /* known_unknown_works when the first of its pointers came; 0 others may be there that nobody saw */
    uint64_t full_begin,
        full_end; /* where words lie that there was no room for, or nobody knows what they point at; end 0 none */
    struct pointed at[TOUCHED_MOST];
    struct table *next_free;
};

/* Around every change; whoever reads meanwhile does so once more. */
void entries_begin(struct table *table);
void entries_end(struct table *table);

/* Entries that lie in there altogether go; and those of memories that are gone. */
void entries_clear(struct table *table, uint64_t begin, uint64_t end);

/* Words of one memory are one entry, from the first to the last, among those that this copy brought: from `fresh` on. */
void entries_add(struct table *table, uint32_t fresh, struct pointed one);

/* Entries of `from` that lie in [begin, begin + size), moved to `to`. Where rows lie apart, each may be anywhere in it. */
void entries_spread(struct table *table, uint64_t to, const struct table *from, uint64_t begin, uint64_t size, int flat);

/* Adds what the table's words point at. 0: it changed meanwhile. Nothing is lost by adding what was read: it was there. */
int entries_follow(struct touched *touched, const struct table *table);

/* Whether there is one that says as much and writes. */
int entries_have(const struct table *table, const struct pointed *one);

#endif
