/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages of a chunk, for the store: taken at once, given back, made zeros.
 */
#ifndef PTDS_CHUNK_PAGES_H
#define PTDS_CHUNK_PAGES_H

#include "interpose/trace/format.h"

/* All pages of a new chunk at once: taken one by one by the records, their faults would cost a record more than it costs
 * itself. Outside the store's lock, or threads that record much would wait for each other's pages; a file's space is still
 * reserved in it. */
void chunk_pages_populate(struct ptds_chunk *chunk);

/* Makes all bytes after a chunk's header zeros. */
void chunk_pages_clear(struct ptds_chunk *chunk);

/* Gives the pages from `from` to the chunk's end back: no thread reads or writes them until the chunk is handed out again.
 * Keeps errno. */
void chunk_pages_let_go(const void *from, const struct ptds_chunk *chunk);

#endif
