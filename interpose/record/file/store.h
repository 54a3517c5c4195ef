/* SPDX-License-Identifier: Apache-2.0
 *
 * Where records live: a header and extents of chunks, in a shared file mapping with PTDS_TRACE, else in memory.
 */
#ifndef PTDS_STORE_H
#define PTDS_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/trace/format.h"

/* Creates the store. path NULL: in memory only. A path that can't be used is said once, and memory is used instead.
 * Returns 0 if there is no memory either. The limits: bytes in the file, or in memory, see PTDS_TRACE_LIMIT. */
int store_open(const char *path, uint64_t limit, uint64_t memory_limit);

struct ptds_trace_header *store_header(void);

/* A fresh chunk, or the oldest full CALLS chunk again once the limit is reached; NULL: there is none (said once, but for
 * COUNTS). Chunks of kind DEFINITIONS and COUNTS are never taken back; COUNTS have a quarter of the trace at most, and are
 * zeros unless *old is set. *old: how many bytes of the chunk's old records are still there, until they are overwritten; 0:
 * there is no allocation among them. Any thread; takes the store's lock. Called by rescue.c, define.c and threads.c. */
struct ptds_chunk *store_chunk(enum ptds_chunk_kind kind, uint32_t thread, size_t *old);

/* A CALLS chunk for later, its pages taken now; NULL where the next one would cost no pages anyway. */
struct ptds_chunk *store_chunk_ahead(uint32_t thread);

/* 1: a CALLS chunk was refused, and no chunk has come back since. Takes no lock. */
int store_is_out(void);

/* Counts a record that was not kept for want of a chunk. Any thread. */
void store_refused(void);

/* The thread will not write to this chunk again. NULL is fine. */
void store_chunk_full(struct ptds_chunk *chunk);

/* The same, of a thread's last one: the rest of it is not kept in memory. */
void store_chunk_last(struct ptds_chunk *chunk);

/* Nothing in it is needed any more: it may become any chunk. */
void store_chunk_back(struct ptds_chunk *chunk);

/* Chunk number i for readers in this process, NULL past the end. */
const struct ptds_chunk *store_chunk_at(uint64_t i);

/* 0 where this would wait for ever: see lock_comes_free. */
int store_can_go_on(void);

/* msync, where there is a file. */
void store_flush(void);

/* Where the trace is being written; NULL: in memory. */
const char *store_path(void);

/* 1: the file was cut, or its disk has failed: the store does not hold what was written. */
int store_is_torn(void);

/* Forgets the store without touching it: it belongs to the parent process. */
void store_after_fork(void);

#endif
