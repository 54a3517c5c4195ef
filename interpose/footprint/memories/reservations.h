/* SPDX-License-Identifier: Apache-2.0
 *
 * Reserved address ranges (cuMemAddressReserve), each a memory besides those of the chunks that are mapped in it: a pointer
 * into one chunk may reach all of them. A call that touches a chunk touches its reservation, too.
 */
#ifndef PTDS_RESERVATIONS_H
#define PTDS_RESERVATIONS_H

#include "interpose/footprint/memories/memory_object.h"

/* Adds the reservation, whose memory the list owns from then on; drops it where there is no memory to remember it. Takes
 * the reservations' lock. */
void reservations_add(struct memory *memory);

/* Removes the reservation that starts at `base`. Its memory, which the caller owns from then on; NULL: there is none.
 * Takes the reservations' lock. */
struct memory *reservations_remove(uint64_t base);

/* The reservation's memory that the address lies in; NULL none. Takes no lock, unless 64 tries met changes. */
struct memory *reservations_at(uint64_t address);

/* The same, held for the caller. Takes the reservations' lock. */
struct memory *reservations_hold_at(uint64_t address);

/* What a pointer to that memory stands for as long as the pointer is kept: in a reservation the reservation, since another
 * memory may be mapped there by the time that the pointer is followed; else the memory. */
struct memory *reservations_lasting(struct memory *memory, uint64_t address);

/* Sets bits of memory.host (how: of MEMORY_OTHERS, or MEMORY_SHARED) for the memory, and for what may reach it. */
void reservations_mark(struct memory *memory, unsigned how);

/* In a forked child: there is no reservation any more. */
void reservations_after_fork(void);

#endif
