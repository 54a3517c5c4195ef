// SPDX-License-Identifier: Apache-2.0
//
// The order that legacy default streams promise, exactly: vector clocks over streams. An operation of the legacy stream
// comes after all blocking and per-thread ones; theirs after all of the legacy stream; events and values carry what their
// stream had. Called while a program is planned. It must never promise more than legacy does, or the program is not
// determined.

#include <string.h>

#include "plan.h"

void model_start(struct model *m)
{
    static const uint8_t kinds[STREAMS_FIXED] = {
        [LEGACY] = KIND_LEGACY,     [LEFT] = KIND_BLOCKING,           [RIGHT] = KIND_BLOCKING,
        [FREE] = KIND_NON_BLOCKING, [OTHER_FREE] = KIND_NON_BLOCKING,
    };
    int without_host = m->without_host;
    memset(m, 0, sizeof *m);
    m->without_host = without_host;
    for (unsigned i = 0; i < STREAMS_FIXED; i++)
        model_stream(m, kinds[i], 0);
}

unsigned model_stream(struct model *m, enum stream_kind kind, unsigned seat)
{
    unsigned s = m->stream_count++;
    m->streams[s].kind = (uint8_t)kind;
    m->streams[s].live = 1;
    m->streams[s].seat = (uint8_t)seat;
    return s;
}

void model_join(struct clock *clock, const struct clock *other)
{
    for (unsigned i = 0; i < STREAMS_MOST; i++)
        if (clock->ticks[i] < other->ticks[i])
            clock->ticks[i] = other->ticks[i];
}

// What the next operation of the stream comes after; destroyed streams and ended threads count as long as they have work.
// What the host has waited for lies before all that it puts on any stream later.
struct clock model_next(const struct model *m, unsigned stream)
{
    struct clock clock = m->streams[stream].last;
    if (m->streams[stream].kind == KIND_LEGACY) {
        for (unsigned i = 0; i < m->stream_count; i++)
            if (m->streams[i].kind != KIND_NON_BLOCKING)
                model_join(&clock, &m->streams[i].last);
    } else if (m->streams[stream].kind != KIND_NON_BLOCKING) {
        model_join(&clock, &m->streams[LEGACY].last);
    }
    if (!m->without_host)
        model_join(&clock, &m->host);
    return clock;
}

// What is done when the stream has been synchronised: for the legacy stream all that its next operation would come after,
// for others what they have, since the wait itself is no operation.
struct clock model_synchronized(const struct model *m, unsigned stream)
{
    return stream == LEGACY ? model_next(m, stream) : m->streams[stream].last;
}

int op_on_stream(enum op_kind kind)
{
    switch (kind) {
    case HOST_READS:
    case HOST_WRITES:
    case EVENT_SYNCHRONIZE:
    case EVENT_QUERY:
    case STREAM_SYNCHRONIZE:
    case STREAM_QUERY:
    case CONTEXT_SYNCHRONIZE:
    case GRAPH_MAKE:
    case SCRATCH_FREE:
    case STREAM_CREATE:
    case STREAM_DESTROY:
    case VALUE_BY_HOST:
    case THREAD_END: return 0;
    default: return 1;
    }
}

static unsigned add_access(struct access *accesses, unsigned count, struct range range, int writes)
{
    accesses[count].range = range;
    accesses[count].writes = writes;
    return count + 1;
}

unsigned op_accesses(const struct plan *p, const struct op *op, struct access *a)
{
    unsigned n = 0;
    switch (op->kind) {
    case KERNEL_ADD: n = add_access(a, n, op->other, 0); // fall through
    case KERNEL_COPY:
    case DEVICE_TO_DEVICE:
    case DEVICE_TO_DEVICE_SYNC:
    case PINNED_TO_DEVICE:
    case PINNED_TO_DEVICE_SYNC:
    case DEVICE_TO_PINNED:
    case DEVICE_TO_PINNED_SYNC: n = add_access(a, n, op->from, 0); // fall through
    case KERNEL_FILL:
    case KERNEL_ADD_ONE:
    case EVENT_RECORD_BY_KERNEL:
    case MEMSET:
    case MEMSET_SYNC:
    case PAGEABLE_TO_DEVICE:
    case PAGEABLE_TO_DEVICE_SYNC:
    case HOST_FUNCTION_WRITES:
    case HOST_WRITES:
    case POOL_ALLOC:
    case POOL_FREE:
    case SCRATCH_ALLOC: return add_access(a, n, op->to, 1);
    case DEVICE_TO_PAGEABLE:
    case DEVICE_TO_PAGEABLE_SYNC:
    case HOST_FUNCTION_READS:
    case HOST_READS: return add_access(a, n, op->from, 0);
    case GRAPH_LAUNCH:
        for (unsigned i = 0; i < op->nodes; i++)
            n += op_accesses(p, &p->nodes[op->nodes_at + i], a + n);
        return n;
    default: return 0;
    }
}

static int part_missing(const struct part *part, int writes, const struct clock *clock)
{
    if (part->written && clock->ticks[part->writer] < part->tick)
        return part->writer;
    for (int i = 0; writes && i < STREAMS_MOST; i++)
        if (clock->ticks[i] < part->readers.ticks[i])
            return i;
    return -1;
}

// Fresh memory has no past: it is the driver's business who had its bytes.
static int missing(const struct plan *p, const struct op *op, const struct clock *clock)
{
    struct access accesses[ACCESSES_MOST];
    unsigned count = op->kind == POOL_ALLOC || op->kind == SCRATCH_ALLOC ? 0 : op_accesses(p, op, accesses);
    for (unsigned i = 0; i < count; i++) {
        const struct range *r = &accesses[i].range;
        for (unsigned part = r->first; part < (unsigned)r->first + r->parts; part++) {
            int stream = part_missing(&p->model.parts[r->mem][part], accesses[i].writes, clock);
            if (stream >= 0)
                return stream;
        }
    }
    return -1;
}

int model_missing(const struct plan *p, const struct op *op)
{
    struct clock clock = model_next(&p->model, op->stream);
    return missing(p, op, &clock);
}

int model_host_missing(const struct plan *p, const struct op *op, const struct clock *host)
{
    return missing(p, op, host);
}

static void touch(struct model *m, const struct access *access, unsigned stream, uint16_t tick)
{
    const struct range *r = &access->range;
    for (unsigned i = r->first; i < (unsigned)r->first + r->parts; i++) {
        struct part *part = &m->parts[r->mem][i];
        if (access->writes) {
            memset(part, 0, sizeof *part);
            part->writer = (uint8_t)stream;
            part->written = 1;
            part->tick = tick;
        } else {
            part->readers.ticks[stream] = tick;
        }
    }
}

static void issue(struct plan *p, const struct op *op)
{
    struct model *m = &p->model;
    struct access accesses[ACCESSES_MOST];
    struct clock clock = model_next(m, op->stream);
    unsigned count = op_accesses(p, op, accesses);
    if (op->kind == EVENT_WAIT || op->kind == EVENT_WAIT_BY_GRAPH)
        model_join(&clock, &m->events[op->event]);
    if (op->kind == VALUE_WAIT)
        model_join(&clock, &m->flags[op->flag]);
    if (op->kind == EVENT_RECORD_BY_KERNEL)
        m->events[op->event] = clock;
    clock.ticks[op->stream]++;
    m->streams[op->stream].last = clock;
    if (op->kind == EVENT_RECORD || op->kind == EVENT_RECORD_BY_GRAPH)
        m->events[op->event] = clock;
    if (op->kind == VALUE_WRITE)
        m->flags[op->flag] = clock;
    for (int pass = 0; pass < 2; pass++) // reads first: what an operation reads and writes it has written
        for (unsigned i = 0; i < count; i++)
            if (accesses[i].writes == pass)
                touch(m, &accesses[i], op->stream, clock.ticks[op->stream]);
}

// What is put on a stream later comes after it, and it comes after all that was there.
static void host_writes(struct model *m, const struct range *r)
{
    memset(&m->parts[r->mem][r->first], 0, r->parts * sizeof(struct part));
}

static void all_done(struct model *m)
{
    for (unsigned i = 0; i < m->stream_count; i++)
        model_join(&m->host, &m->streams[i].last);
}

void model_apply(struct plan *p, const struct op *op)
{
    struct model *m = &p->model;
    struct clock clock;
    if (op_on_stream(op->kind))
        issue(p, op);
    switch (op->kind) {
    case PAGEABLE_TO_DEVICE_SYNC: // may return before the bytes are there, but not before all earlier work is done
    case PINNED_TO_DEVICE_SYNC:
    case DEVICE_TO_PINNED_SYNC:
    case DEVICE_TO_PAGEABLE:
    case DEVICE_TO_PAGEABLE_SYNC:
        clock = m->streams[op->stream].last;
        if (op->kind == PAGEABLE_TO_DEVICE_SYNC)
            clock.ticks[op->stream]--;
        model_join(&m->host, &clock);
        return;
    case STREAM_SYNCHRONIZE:
    case STREAM_QUERY:
        clock = model_synchronized(m, op->stream);
        model_join(&m->host, &clock);
        return;
    case EVENT_SYNCHRONIZE:
    case EVENT_QUERY: model_join(&m->host, &m->events[op->event]); return;
    case HOST_WRITES: host_writes(m, &op->to); return;
    case SCRATCH_FREE:
    case CONTEXT_SYNCHRONIZE: all_done(m); return;
    case STREAM_DESTROY: m->streams[op->stream].live = 0; return;
    default: return;
    }
}
