/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a trace: whether this is one, of a version and with sizes that can be read. Called by the reader, first of
 * all. Nothing else of a trace may be believed before.
 */
#include "analysis/trace/header.h"

#include <stdio.h>
#include <unistd.h>

#include "analysis/base/text.h"

static bool refuse(const struct trace *trace, char *error, uint64_t offset, const char *why)
{
    snprintf(error, TRACE_ERROR_SIZE, "%s: offset %llu: %s; nothing could be read", trace->source.name,
             (unsigned long long)offset, why);
    return false;
}

static bool check(struct trace *trace, char *error)
{
    const struct ptds_trace_header *header = &trace->header;
    if (memcmp(header->magic, PTDS_TRACE_MAGIC, sizeof header->magic) != 0)
        return refuse(trace, error, 0, "this is no libptds trace");
    if (header->version > PTDS_TRACE_VERSION) {
        snprintf(error, TRACE_ERROR_SIZE,
                 "%s: offset 8: trace version %u, this reader knows up to %u: use the ptds of libptds %.*s",
                 trace->source.name, header->version, PTDS_TRACE_VERSION, (int)sizeof header->shim, header->shim);
        return false;
    }
    if (header->version == 0)
        return refuse(trace, error, 8, "trace version 0");
    if (header->header_size < sizeof *header || header->header_size % 8 != 0 || header->header_size > 1u << 26)
        return refuse(trace, error, offsetof(struct ptds_trace_header, header_size), "impossible header size");
    if (header->chunk_size <= sizeof(struct ptds_chunk) || header->chunk_size % 8 != 0 || header->chunk_size > 1u << 26)
        return refuse(trace, error, offsetof(struct ptds_trace_header, chunk_size), "impossible chunk size");
    if (header->call_size < 24 || header->call_size % 8 != 0 || header->call_size > 4096)
        return refuse(trace, error, offsetof(struct ptds_trace_header, call_size), "impossible size of a call record");
    return true;
}

static void clean_in_place(char *text, size_t room)
{
    char copy[256] = "";
    text_clean(copy, room, text, room);
    memcpy(text, copy, room);
}

bool header_read(struct trace *trace, char *error)
{
    const struct trace_source *source = &trace->source;
    if (source->header_bytes < sizeof trace->header)
        return refuse(trace, error, 0, "too short for a trace's header");
    memcpy(&trace->header, source->header, sizeof trace->header);
    clean_in_place(trace->header.host, sizeof trace->header.host);
    clean_in_place(trace->header.program, sizeof trace->header.program);
    clean_in_place(trace->header.shim, sizeof trace->header.shim);
    return check(trace, error);
}

bool header_is_of_this_host(const struct ptds_trace_header *header)
{
    char name[sizeof header->host] = "";
    return gethostname(name, sizeof name - 1) == 0 && strcmp(name, header->host) == 0;
}
