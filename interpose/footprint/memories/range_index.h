/* SPDX-License-Identifier: Apache-2.0
 *
 * Address ranges in order of their first addresses. For addresses.c alone, which owns the lock and knows when a reader met
 * a change.
 */
#ifndef PTDS_RANGE_INDEX_H
#define PTDS_RANGE_INDEX_H

#include "interpose/footprint/memories/addresses.h"

/* The last range that starts at or before the address; NULL none. Takes no lock: what a reader without the lock finds
 * holds if nothing changed meanwhile. */
struct range_entry *range_index_before(uint64_t address);

/* Adds a range that starts at `first`, where none starts. 0: there is no memory for it. Requires addresses.c's lock. */
int range_index_insert(uint64_t first, struct range_entry *entry);

/* Removes the range that starts at `first`; there must be one. Requires addresses.c's lock. */
void range_index_take_out(uint64_t first);

/* Any range of the memory; NULL none. Looks at each range that there is. Requires addresses.c's lock. */
struct range_entry *range_index_of(const struct memory *memory);

/* In a forked child: there is no range any more. */
void range_index_forget(void);

#endif
