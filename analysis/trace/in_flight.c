/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds struct ptds_now in the COUNTS chunks, and says what record it will be. Called by rules at the end of a trace, and
 * by `ptds watch`. The process may still be writing: the entry is read before and after the rest, and one that changed in
 * between is no call in flight.
 */
#include "analysis/trace/in_flight.h"

#include <string.h>

static bool read_now(const unsigned char *chunk, size_t readable, struct ptds_now *now)
{
    struct ptds_chunk header;
    uint64_t enter;
    if (chunk == NULL || readable < sizeof header)
        return false;
    memcpy(&header, chunk, sizeof header);
    if (header.magic != PTDS_CHUNK_MAGIC || header.kind != PTDS_CHUNK_COUNTS || header.now < sizeof header ||
        (uintptr_t)(chunk + header.now) % 8 != 0 || header.now > readable || readable - header.now < sizeof *now)
        return false;
    const uint64_t *live = (const uint64_t *)(const void *)(chunk + header.now + offsetof(struct ptds_now, enter));
    enter = __atomic_load_n(live, __ATOMIC_ACQUIRE);
    memcpy(now, chunk + header.now, sizeof *now);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return enter != 0 && __atomic_load_n(live, __ATOMIC_RELAXED) == enter && now->enter == enter;
}

void in_flight_each(const struct trace *trace, in_flight_fn each, void *data)
{
    for (uint64_t i = 0; i < trace->source.chunks; i++) {
        struct ptds_now now;
        size_t readable = 0;
        const unsigned char *chunk = trace->source.chunk(&trace->source, i, &readable);
        struct ptds_chunk header;
        if (!read_now(chunk, readable, &now))
            continue;
        memcpy(&header, chunk, sizeof header);
        each(data, header.thread, &now);
    }
}

struct call in_flight_call(uint32_t thread, const struct ptds_now *now)
{
    enum { NOT_READY = 600 };
    struct call call = {.thread = thread, .words = 1, .word = (const unsigned char *)&now->word};
    bool query = now->op == PTDS_OP_STREAM_QUERY || now->op == PTDS_OP_EVENT_QUERY;
    call.r.enter = call.r.leave = now->enter;
    call.r.api = now->api;
    call.r.result = query ? NOT_READY : 0;
    call.r.flags = now->flags & ~(uint32_t)PTDS_CALL_TIMED; /* it has not left */
    call.r.op = now->op;
    call.r.kinds = now->kinds;
    call.r.context = now->context;
    call.r.stream = now->stream;
    call.r.target = now->target;
    call.r.object = now->object;
    call.r.generation = now->generation;
    call.r.stack = now->stack;
    return call;
}
