/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass over a trace. Called by the command, by the shim's exit summary and by tests. Every size and count in here
 * comes from the trace and is compared with the bytes that are there before use; damage is noted and skipped, never
 * followed.
 */
#include "analysis/trace/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/id_map.h"
#include "analysis/trace/header.h"
#include "analysis/trace/record_sizes.h"
#include "analysis/trace/records.h"

enum { DAMAGES_KEPT = 16, MAX_COUNTS = 65536 * 2 };

static uint64_t chunk_offset(const struct trace *trace, uint64_t index)
{
    return trace->header.header_size + index * trace->header.chunk_size;
}

__attribute__((format(printf, 3, 4))) static void note_damage(struct trace *trace, uint64_t offset, const char *format, ...)
{
    trace->damaged++;
    if (trace->damages.count >= DAMAGES_KEPT || !TABLE_ADD(&trace->damages))
        return;
    struct damage *damage = TABLE_LAST(&trace->damages);
    damage->offset = offset;
    va_list args;
    va_start(args, format);
    vsnprintf(damage->text, sizeof damage->text, format, args);
    va_end(args);
}

const unsigned char *trace_chunk_records(const struct trace *trace, const struct chunk_ref *chunk)
{
    size_t readable = 0;
    const unsigned char *bytes = trace->source.chunk(&trace->source, chunk->index, &readable);
    return bytes != NULL && readable >= sizeof(struct ptds_chunk) + chunk->bytes ? bytes + sizeof(struct ptds_chunk) : NULL;
}

/* 4 steps an octave: the two bits below the highest one. Those from 4 to 7 are nobody's. */
static unsigned step_of(uint64_t ticks)
{
    if (ticks < 4)
        return (unsigned)ticks;
    unsigned high = 63 - (unsigned)__builtin_clzll(ticks);
    return high * 4 + (unsigned)(ticks >> (high - 2) & 3);
}

static uint64_t step_end(unsigned step)
{
    if (step < 4)
        return step;
    unsigned high = step / 4;
    return high >= 63 ? UINT64_MAX : ((uint64_t)(step % 4 + 5) << (high - 2)) - 1;
}

/* Room for one more API's, NULL without memory. */
static struct durations *new_durations(struct trace *trace, size_t at)
{
    struct durations *durations = TABLE_AT(&trace->durations, at);
    if (durations == NULL) {
        trace->out_of_memory = true;
        return NULL;
    }
    if (durations->steps == NULL)
        durations->steps = heap_zeroed(DURATION_STEPS, sizeof *durations->steps);
    return durations->steps != NULL ? durations : NULL;
}

static void add_duration(struct trace *trace, const struct ptds_rec_CALL *call)
{
    if (call->leave < call->enter)
        return;
    size_t at = (size_t)call->api * 2 + (call->flags & PTDS_CALL_TWIN ? 1 : 0);
    bool there = at < trace->durations.count && trace->durations.items[at].steps != NULL;
    struct durations *durations = there ? &trace->durations.items[at] : new_durations(trace, at);
    if (durations == NULL)
        return;
    durations->calls++;
    durations->steps[step_of(call->leave - call->enter)]++;
}

/* What the calls of a chunk add up to. */
struct tally {
    uint64_t calls, last, ops;
    uint32_t flags;
    bool from_pinned;
};

static inline void take_call(struct trace *trace, struct tally *tally, const unsigned char *record, uint32_t size)
{
    struct ptds_rec_CALL call;
    decode_fixed(trace, record, size, &call);
    tally->calls++;
    tally->flags |= call.flags;
    tally->ops |= UINT64_C(1) << call.op % 64;
    tally->from_pinned |=
        call.op == PTDS_OP_COPY && (call.kinds >> 4 == PTDS_MEMORY_PINNED || call.kinds >> 4 == PTDS_MEMORY_REGISTERED);
    tally->last = call.enter > tally->last ? call.enter : tally->last;
    if (call.flags & PTDS_CALL_TIMED)
        add_duration(trace, &call);
}

static void take_definition(struct trace *trace, const struct ptds_record *record, const unsigned char *bytes)
{
    union any_record fixed;
    uint32_t size = records_fixed(trace, record, bytes, &fixed);
    if (!definitions_add(&trace->defs, record->kind, &fixed, bytes + size, record->size - size) &&
        !records_is_among_calls(record->kind))
        trace->unknown_records++;
}

/* Walks a chunk's records; returns how many bytes of them are sound. */
static uint32_t take_records(struct trace *trace, uint64_t index, const unsigned char *records, uint32_t bytes)
{
    struct tally tally = {0};
    struct ptds_record record;
    uint32_t offset = 0;
    int got;
    for (; (got = record_at(records, bytes, offset, &record)) > 0; offset += record.size) {
        record_soon(records + offset);
        if (record.kind == PTDS_REC_CALL)
            take_call(trace, &tally, records + offset, record.size);
        else
            take_definition(trace, &record, records + offset);
    }
    trace->calls += tally.calls;
    trace->flags |= tally.flags;
    trace->ops |= tally.ops;
    trace->from_pinned |= tally.from_pinned;
    trace->last_ticks = tally.last > trace->last_ticks ? tally.last : trace->last_ticks;
    if (got < 0) {
        uint64_t at = chunk_offset(trace, index) + sizeof(struct ptds_chunk) + offset;
        note_damage(trace, at, "no record here (size %u, %u bytes left); the rest of this chunk is skipped",
                    bytes - offset >= sizeof record ? record.size : 0, bytes - offset);
    }
    return offset;
}

/* What follows the counts, as far as the chunk says that it is there. */
static void take_defaults(struct trace *trace, const unsigned char *chunk, uint32_t at, size_t count, size_t readable)
{
    const size_t size = sizeof(struct ptds_default_count);
    if (at <= PTDS_CHUNK_SIZE && count > (PTDS_CHUNK_SIZE - at) / size)
        count = (PTDS_CHUNK_SIZE - at) / size;
    bool there = at >= sizeof(struct ptds_chunk) && at <= readable && count <= (readable - at) / size;
    trace->has_defaults = there && (trace->has_defaults || trace->counts.count == 0);
    for (size_t i = 0; there && i < count; i++) {
        struct ptds_default_count one;
        memcpy(&one, chunk + at + i * size, size);
        trace->defaults.legacy += one.legacy;
        trace->defaults.kept += one.kept;
        trace->defaults.failed += one.failed;
    }
}

static void take_counts(struct trace *trace, const unsigned char *records, uint32_t bytes)
{
    size_t count = bytes / sizeof(struct ptds_count);
    if (count > MAX_COUNTS)
        count = MAX_COUNTS;
    void *grown = table_grow(trace->counts.items, &trace->counts.room, count, sizeof *trace->counts.items);
    if (grown == NULL) {
        trace->out_of_memory = true;
        return;
    }
    trace->counts.items = grown;
    if (trace->counts.count < count)
        trace->counts.count = count;
    for (size_t i = 0; i < count; i++) {
        struct ptds_count one;
        memcpy(&one, records + i * sizeof one, sizeof one);
        trace->counts.items[i].calls += one.calls;
        trace->counts.items[i].failed += one.failed;
        trace->counts.items[i].remapped += one.remapped;
        trace->counts.items[i].ticks += one.ticks;
    }
}

static void keep_chunk(struct trace *trace, uint64_t index, const struct ptds_chunk *chunk, uint32_t bytes)
{
    if (!TABLE_ADD(&trace->chunks)) {
        trace->out_of_memory = true;
        return;
    }
    *TABLE_LAST(&trace->chunks) = (struct chunk_ref){.thread = chunk->thread,
                                                     .bytes = bytes,
                                                     .sequence = chunk->sequence,
                                                     .index = index,
                                                     .lost = chunk->lost,
                                                     .ordinal = chunk->ordinal};
}

/* The records' bytes as far as they are there. */
static uint32_t sound_bytes(struct trace *trace, uint64_t index, uint64_t committed, size_t readable)
{
    size_t room = readable - sizeof(struct ptds_chunk);
    if (committed <= room)
        return (uint32_t)committed;
    note_damage(trace, chunk_offset(trace, index), "a chunk of %llu bytes, of which %zu are here",
                (unsigned long long)committed, room);
    return (uint32_t)room;
}

/* A chunk's `lost` counts on from the thread's earlier ones, so a thread's largest is its total. */
struct lost {
    struct id_map threads;
    TABLE_OF(uint64_t) most;
};

static void note_lost(struct trace *trace, struct lost *lost, const struct ptds_chunk *chunk)
{
    uint32_t at;
    if (!id_map_get(&lost->threads, chunk->thread, &at)) {
        if (!TABLE_ADD(&lost->most) || !id_map_put(&lost->threads, chunk->thread, (uint32_t)lost->most.count - 1)) {
            trace->out_of_memory = true;
            return;
        }
        at = (uint32_t)lost->most.count - 1;
    }
    if (chunk->lost > lost->most.items[at])
        lost->most.items[at] = chunk->lost;
}

static void read_chunk(struct trace *trace, struct lost *lost, uint64_t index)
{
    size_t readable = 0;
    const unsigned char *bytes = trace->source.chunk(&trace->source, index, &readable);
    if (bytes == NULL || readable < sizeof(struct ptds_chunk)) {
        trace->lost_chunks++;
        return;
    }
    struct ptds_chunk chunk;
    memcpy(&chunk, bytes, sizeof chunk);
    chunk.committed = __atomic_load_n(&((const struct ptds_chunk *)(const void *)bytes)->committed, __ATOMIC_ACQUIRE);
    if (chunk.magic == 0 || (chunk.magic == PTDS_CHUNK_MAGIC && chunk.kind == PTDS_CHUNK_FREE))
        return;
    if (chunk.magic != PTDS_CHUNK_MAGIC || chunk.kind > PTDS_CHUNK_COUNTS) {
        note_damage(trace, chunk_offset(trace, index), "no chunk here (magic %08x, kind %u)", chunk.magic, chunk.kind);
        return;
    }
    uint32_t sound = sound_bytes(trace, index, chunk.committed, readable);
    const unsigned char *records = bytes + sizeof chunk;
    if (chunk.kind == PTDS_CHUNK_COUNTS) {
        take_defaults(trace, bytes, chunk.defaults, sound / sizeof(struct ptds_count), readable);
        take_counts(trace, records, sound);
        return;
    }
    note_lost(trace, lost, &chunk);
    sound = take_records(trace, index, records, sound);
    if (chunk.kind == PTDS_CHUNK_CALLS)
        keep_chunk(trace, index, &chunk, sound);
}

static int by_thread_and_sequence(const void *a, const void *b)
{
    const struct chunk_ref *one = a, *two = b;
    if (one->thread != two->thread)
        return one->thread < two->thread ? -1 : 1;
    if (one->sequence != two->sequence)
        return one->sequence < two->sequence ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

/* Chunks in order: where some of their thread's are missing, which were overwritten. Of a thread that does not tell, its
 * first ones may be. */
static void place_gaps(struct trace *trace)
{
    uint64_t gaps = 0, expected = 1;
    for (size_t i = 0; i < trace->chunks.count; i++) {
        struct chunk_ref *chunk = &trace->chunks.items[i];
        bool first = i == 0 || chunk->thread != chunk[-1].thread;
        gaps = first ? 0 : gaps;
        expected = first ? 1 : expected;
        gaps += chunk->ordinal != 0 ? chunk->ordinal != expected : first && trace->header.recycled != 0;
        expected = chunk->ordinal != 0 ? chunk->ordinal + 1 : expected;
        chunk->lost += gaps;
    }
}

static void read_chunks(struct trace *trace)
{
    struct lost lost = {0};
    for (uint64_t i = 0; i < trace->source.chunks; i++)
        read_chunk(trace, &lost, i);
    if (trace->header.chunks > trace->source.chunks)
        trace->lost_chunks += trace->header.chunks - trace->source.chunks;
    for (size_t i = 0; i < lost.most.count; i++)
        trace->lost += lost.most.items[i];
    free(lost.most.items);
    id_map_free(&lost.threads);
    if (trace->chunks.count != 0)
        qsort(trace->chunks.items, trace->chunks.count, sizeof *trace->chunks.items, by_thread_and_sequence);
    place_gaps(trace);
    for (size_t i = 0; i < trace->defs.threads.count; i++)
        trace->threads += !trace->defs.threads.items[i].drivers;
    for (size_t i = 0; i < trace->chunks.count; i++)
        if ((i == 0 || trace->chunks.items[i].thread != trace->chunks.items[i - 1].thread) &&
            definitions_thread(&trace->defs, trace->chunks.items[i].thread) == NULL)
            trace->threads++;
    trace->out_of_memory |= trace->defs.out_of_memory;
}

static void read_schema(struct trace *trace)
{
    const struct ptds_trace_header *header = &trace->header;
    const char *base = trace->source.header;
    size_t there = trace->source.header_bytes < header->header_size ? trace->source.header_bytes : header->header_size;
    bool sound = header->schema_offset <= there && header->schema_size <= there - header->schema_offset;
    if (!sound)
        note_damage(trace, offsetof(struct ptds_trace_header, schema_offset), "the schema text lies outside the header");
    record_sizes_read(trace->fixed, sound ? base + header->schema_offset : "", sound ? header->schema_size : 0);
    trace->fixed[PTDS_REC_CALL] = (uint16_t)header->call_size;
}

int trace_read(struct trace *trace, const struct trace_source *source, char *error)
{
    *trace = (struct trace){.source = *source};
    if (!header_read(trace, error))
        return -1;
    read_schema(trace);
    read_chunks(trace);
    definitions_finish(&trace->defs);
    return 0;
}

void trace_close(struct trace *trace)
{
    definitions_free(&trace->defs);
    for (size_t i = 0; i < trace->durations.count; i++)
        free(trace->durations.items[i].steps);
    free(trace->durations.items);
    free(trace->chunks.items);
    free(trace->counts.items);
    free(trace->damages.items);
    *trace = (struct trace){0};
}

bool trace_has_time(const struct trace *trace)
{
    const struct clock_def *clocks = trace->defs.clocks.items;
    return trace->header.clock == PTDS_CLOCK_MONOTONIC ||
           (trace->defs.clocks.count == 2 && clocks[1].ticks > clocks[0].ticks &&
            clocks[1].monotonic > clocks[0].monotonic);
}

uint64_t trace_ns(const struct trace *trace, uint64_t ticks)
{
    const struct clock_def *clocks = trace->defs.clocks.items;
    if (trace->header.clock == PTDS_CLOCK_MONOTONIC)
        return ticks;
    if (!trace_has_time(trace))
        return 0;
    double ns =
        (double)ticks * ((double)(clocks[1].monotonic - clocks[0].monotonic) / (double)(clocks[1].ticks - clocks[0].ticks));
    return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

uint64_t trace_quick_ticks(const struct trace *trace, uint32_t api, bool twin, unsigned percent)
{
    size_t at = (size_t)api * 2 + twin;
    if (at >= trace->durations.count || trace->durations.items[at].calls == 0)
        return UINT64_MAX;
    const struct durations *durations = &trace->durations.items[at];
    uint64_t wanted = (durations->calls * percent + 99) / 100, seen = 0;
    for (unsigned step = 0; step < DURATION_STEPS; step++) {
        seen += durations->steps[step];
        if (seen >= wanted && seen != 0)
            return step_end(step);
    }
    return UINT64_MAX;
}
