/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory at addresses: mapped, unmapped, and accessible to whom. The same memory mapped twice is one memory here.
 * api.def's columns; they do nothing unless C->footprint is set.
 */
#ifndef PTDS_MAPPINGS_H
#define PTDS_MAPPINGS_H

#include "interpose/state/call.h"

/* After the call: [base, base + bytes) is the handle's memory from `offset` on. */
void mappings_mapped(struct call *C, CUdeviceptr base, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle);

/* Before and after the call that unmaps all in [base, base + bytes). In between C->word[1] owns the ranges. */
void mappings_unmapping(struct call *C, CUdeviceptr base, size_t bytes);
void mappings_unmapped(struct call *C);

/* Before the call that says who may access the memory there: access may be taken away. */
void mappings_access_changing(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count);

/* After the call: where the host may touch the memory from now on, it is the host's. */
void mappings_allowed(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count);

/* ---- for the other files of this folder, and for modules/ ---- */

/* Maps the handle's memory and records it. */
void mappings_add(struct call *C, enum ptds_memory_kind kind, uint64_t handle, uint64_t base, uint64_t bytes,
                  uint64_t offset);

/* The host, or others, can touch the memory from now on, and its reservation. Tells the guard. */
void mappings_show(struct call *C, struct memory *memory);

/* What C touches is about to go: tells the guard, and forgets it, since it is no work of the call's. */
void mappings_leave(struct call *C);

#endif
