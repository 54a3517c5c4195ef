/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a trace's bytes are: a mapped file, or the chunks that a running process holds. The reader needs no more than this.
 */
#ifndef PTDS_ANALYSIS_TRACE_TRACE_SOURCE_H
#define PTDS_ANALYSIS_TRACE_TRACE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/trace/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trace_source {
    const char *name;    /* in messages: the file's path, or "this process" */
    const char *file;    /* the path if the trace is kept in a file, else NULL: for "the next command" */
    const void *header;  /* struct ptds_trace_header; stays readable while the source is in use */
    size_t header_bytes; /* readable at `header`; more than the struct if the schema text follows */
    uint64_t chunks;     /* chunk() is asked for 0 .. chunks-1 */
    /* The bytes of a chunk, its struct ptds_chunk first, 8-byte aligned, readable until the source is done with. *readable:
     * how many bytes (a file may end early). NULL: this chunk cannot be had. Chunks may grow meanwhile (`committed` is read
     * once, with acquire order) but must not move. Called on the thread that called the reader. */
    const void *(*chunk)(const struct trace_source *source, uint64_t index, size_t *readable);
    const void *data; /* for chunk() */
    size_t data_bytes;
    uint64_t now;     /* of a process that is alive: ticks of its clock at which it was; 0: not known to be */
    double ns_a_tick; /* of these */
};

/* A source over an array of chunk pointers, each of header->chunk_size bytes; NULL entries are chunks that were lost.
 * Nothing is copied: header and array stay the caller's. */
struct trace_source trace_source_memory(const struct ptds_trace_header *header, size_t header_bytes,
                                        const void *const *chunks, uint64_t count);

/* A source over the bytes of a trace's file, 8-byte aligned, however many. They stay the caller's; there is nothing to
 * close. */
struct trace_source trace_source_bytes(const char *name, const void *bytes, size_t size);

enum { TRACE_ERROR_SIZE = 512 };

/* Maps a file read-only. 0, or -1 with a message (names the file, no newline) in `error`, TRACE_ERROR_SIZE bytes. `path`
 * must outlive the source. Close with trace_source_close. */
int trace_source_open(struct trace_source *source, const char *path, char *error);
void trace_source_close(struct trace_source *source);

/* The path of the mapped file that the address lies in, and where in it; NULL none. May be asked in a signal handler of the
 * thread that opens and closes. */
const char *trace_source_at(const void *address, uint64_t *offset);

#ifdef __cplusplus
}
#endif
#endif
