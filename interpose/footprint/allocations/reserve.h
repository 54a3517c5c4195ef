/* SPDX-License-Identifier: Apache-2.0
 *
 * What the calls say that reserve addresses (cuMemAddressReserve), and that map chunks there. api.def's columns; they do
 * nothing unless C->footprint is set.
 */
#ifndef PTDS_RESERVE_H
#define PTDS_RESERVE_H

#include "interpose/state/call.h"

/* After the call: `bytes` addresses from *base on are reserved. */
void reserve_made(struct call *C, const CUdeviceptr *base, size_t bytes);

/* Before and after the call that frees them: afterwards the addresses may be another's at once. In between C->leaving is
 * the reservation's memory. */
void reserve_freeing(struct call *C, CUdeviceptr base);
void reserve_freed(struct call *C);

/* The memory, which the caller holds, is about to be mapped at these addresses: it becomes part of the reservation there,
 * if any. Takes the reservations' lock and the tables' lock, one after the other. */
void reserve_mapped(struct memory *memory, uint64_t base, uint64_t bytes);

#endif
