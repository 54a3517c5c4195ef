/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations outlive the chunks that their records are in: for append.c, threads.c and define.c, which get such chunks
 * back.
 */
#ifndef PTDS_RESCUE_H
#define PTDS_RESCUE_H

#include <stddef.h>

#include "interpose/state/thread.h"

/* Whether the memory of an allocation is still there. Set by the footprint; any thread, takes no memory. NULL: no memory
 * is. */
extern int (*rescue_memory_is_there)(const struct ptds_rec_MEMORY *memory);

/* The call at hand is going to be recorded as an allocation: the thread's chunk has to be looked through when it is taken
 * back. By the thread itself. */
void rescue_allocates(struct thread *thread);

/* As store_chunk; what was recorded there of memory that is still there has been written elsewhere. Not under the
 * definitions' lock. */
struct ptds_chunk *rescue_chunk(enum ptds_chunk_kind kind, uint32_t thread);

/* Packs a MEMORY record for each allocation in `bytes` bytes of a CALLS chunk's records, whose memory is still there, at
 * the place where those began. Returns how many bytes these are, fewer than before. */
size_t rescue_pack(uint8_t *records, size_t bytes);

#endif
