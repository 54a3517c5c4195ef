/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of trace source. Used by the command (files), by the shim's exit summary (memory) and by tests (these, and a
 * file's bytes).
 * Looks into the header only as far as it must to find the chunks; must never trust a size that it has not compared with
 * what is there.
 */
#include "analysis/trace/trace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/heap.h"

static const void *memory_chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    const struct ptds_trace_header *header = source->header;
    const void *const *chunks = source->data;
    *readable = header->chunk_size;
    return chunks[index];
}

struct trace_source trace_source_memory(const struct ptds_trace_header *header, size_t header_bytes,
                                        const void *const *chunks, uint64_t count)
{
    return (struct trace_source){.name = "this process",
                                 .header = header,
                                 .header_bytes = header_bytes,
                                 .chunks = count,
                                 .chunk = memory_chunk,
                                 .data = chunks};
}

static const void *bytes_chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    const struct ptds_trace_header *header = source->header;
    size_t offset = header->header_size + (size_t)index * header->chunk_size;
    size_t left = source->data_bytes - offset;
    *readable = left < header->chunk_size ? left : header->chunk_size;
    return (const char *)source->data + offset;
}

/* What such a source is closed by. */
static const void *file_chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    return bytes_chunk(source, index, readable);
}

/* How many chunks begin inside the file; 0 where the header's sizes make no sense, which the reader then reports. */
static uint64_t chunks_in(const void *data, size_t bytes)
{
    const struct ptds_trace_header *header = data;
    if (bytes < sizeof *header || header->chunk_size < sizeof(struct ptds_chunk) || header->chunk_size % 8 != 0 ||
        header->header_size % 8 != 0 || header->header_size >= bytes)
        return 0;
    size_t rest = bytes - header->header_size;
    return rest / header->chunk_size + (rest % header->chunk_size >= sizeof(struct ptds_chunk));
}

struct trace_source trace_source_bytes(const char *name, const void *bytes, size_t size)
{
    return (struct trace_source){.name = name,
                                 .header = bytes,
                                 .header_bytes = size,
                                 .chunks = chunks_in(bytes, size),
                                 .chunk = bytes_chunk,
                                 .data = bytes,
                                 .data_bytes = size};
}

/* Files that are mapped, for trace_source_at. One that there was no memory to note is mapped all the same. */
static struct mapped {
    const char *path, *data;
    size_t bytes;
    struct mapped *next;
} * mapped;

static void note_mapped(const char *path, const char *data, size_t bytes)
{
    struct mapped *one = heap_bytes(sizeof *one);
    if (one == NULL)
        return;
    *one = (struct mapped){path, data, bytes, mapped};
    mapped = one;
}

static void forget_mapped(const char *data)
{
    struct mapped **link = &mapped, *one;
    while (*link != NULL && (*link)->data != data)
        link = &(*link)->next;
    if ((one = *link) != NULL) {
        *link = one->next;
        free(one);
    }
}

const char *trace_source_at(const void *address, uint64_t *offset)
{
    for (const struct mapped *one = mapped; one != NULL; one = one->next) {
        *offset = (uintptr_t)address - (uintptr_t)one->data;
        if (*offset < one->bytes)
            return one->path;
    }
    return NULL;
}

static int map_file(struct trace_source *source, int fd, const char *path, char *error)
{
    /* lseek rather than fstat, whose symbol is newer than the oldest glibc that the shim loads on. */
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: not a regular file", path);
        return -1;
    }
    if ((uint64_t)size < sizeof(struct ptds_trace_header)) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: offset 0: %lld bytes, a trace's header alone has %zu; nothing could be read",
                 path, (long long)size, sizeof(struct ptds_trace_header));
        return -1;
    }
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: cannot be mapped: %s", path, strerror(errno));
        return -1;
    }
    note_mapped(path, data, (size_t)size); /* before the first look at it */
    *source = trace_source_bytes(path, data, (size_t)size);
    source->file = path;
    source->chunk = file_chunk;
    return 0;
}

int trace_source_open(struct trace_source *source, const char *path, char *error)
{
    *source = (struct trace_source){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: %s", path, strerror(errno));
        return -1;
    }
    int status = map_file(source, fd, path, error);
    close(fd);
    return status;
}

void trace_source_close(struct trace_source *source)
{
    if (source->chunk == file_chunk) {
        forget_mapped(source->data);
        munmap((void *)source->data, source->data_bytes);
    }
    *source = (struct trace_source){0};
}
