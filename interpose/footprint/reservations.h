/* SPDX-License-Identifier: Apache-2.0
 *
 * Reserved address ranges (cuMemAddressReserve): a pointer into one chunk that is mapped there may reach all of them.
 */
#ifndef PTDS_RESERVATIONS_H
#define PTDS_RESERVATIONS_H

#include "interpose/state/call.h"

/* api.def's columns. */
void reservations_made(struct call *C, const CUdeviceptr *base, size_t bytes);
void fp_unreserve(struct call *C, CUdeviceptr base);
void reservations_freed(struct call *C);

/* The reservation's memory that the address lies in; NULL none. Found without a lock. */
struct memory *reservations_at(uint64_t address);

/* What a pointer to that memory stands for as long as it is kept: in a reservation that itself, since another memory may be
 * mapped there by the time that the pointer is followed. Who touches a chunk touches its reservation, too. */
struct memory *reservations_lasting(struct memory *memory, uint64_t address);

/* The memory is about to be mapped at these addresses. */
void reservations_take(struct memory *memory, uint64_t base, uint64_t bytes);

/* The memory is among MEMORY_OTHERS from here on, and so is what may reach it. */
void reservations_mark(struct memory *memory, unsigned how);

void reservations_after_fork(void);

#endif
