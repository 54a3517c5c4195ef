/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations outlive the chunks that their records are in, for whoever takes such a chunk back: recorder.c, threads.c and
 * definitions.c.
 */
#ifndef PTDS_RESCUE_H
#define PTDS_RESCUE_H

#include <stddef.h>

#include "interpose/record/store.h"

/* As store_chunk; what was recorded there of memory that is still there has been written elsewhere. Not under the
 * definitions' lock. */
struct ptds_chunk *rescue_chunk(enum ptds_chunk_kind kind, uint32_t thread);

/* Packs a MEMORY record for each allocation in `bytes` bytes of a CALLS chunk's records, whose memory is still there, at
 * the place where those began. Returns how many bytes these are, fewer than before. */
size_t rescue_pack(uint8_t *records, size_t bytes);

#endif
