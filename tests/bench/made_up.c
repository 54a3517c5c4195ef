/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks out of nothing: what all workloads share. Called by analysis.c and by the workloads. Chunk 0 holds the
 * definitions, chunk 1 the allocations, the others the threads' calls in turn. Handing a chunk out must cost next to
 * nothing, or it would be measured with the rest.
 */
#include "tests/bench/made_up.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"

enum { DEFINITIONS, ALLOCATIONS, FIRST_CALLS, CALLS_MOST = 400, ALIGN = 8 };

static const struct workload *made;
static struct ptds_trace_header header;
static _Alignas(ALIGN) unsigned char chunks[FIRST_CALLS + THREADS_MOST][PTDS_CHUNK_SIZE];
static uint64_t strings, held[THREADS_MOST];
static struct ptds_rec_CALL *calls[THREADS_MOST + 1][CALLS_MOST];
static uint32_t counts[THREADS_MOST + 1];

static struct ptds_chunk *head_of(unsigned char *chunk)
{
    return (struct ptds_chunk *)(void *)chunk;
}

static void *append(unsigned char *chunk, uint16_t kind, size_t size)
{
    struct ptds_chunk *head = head_of(chunk);
    struct ptds_record *record = (struct ptds_record *)(void *)(chunk + sizeof *head + head->committed);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (sizeof *head + head->committed + size > PTDS_CHUNK_SIZE)
        abort();
    record->kind = kind;
    record->size = (uint16_t)size;
    head->committed += (uint32_t)size;
    return record;
}

static void begin_chunk(unsigned char *chunk, uint32_t kind, uint32_t thread)
{
    *head_of(chunk) = (struct ptds_chunk){.magic = PTDS_CHUNK_MAGIC, .kind = kind, .thread = thread, .sequence = 1};
}

static void define_apis(void)
{
    static const char *const names[] = {
        [LAUNCH_API] = "cuLaunchKernel", [COPY_API] = "cuMemcpyHtoDAsync_v2", [COPY_BACK_API] = "cuMemcpyDtoH_v2",
        [RECORD_API] = "cuEventRecord",  [WAIT_API] = "cuStreamWaitEvent",    [SYNC_API] = "cuStreamSynchronize",
        [ALLOC_API] = "cuMemAlloc_v2"};
    for (uint16_t i = 1; i <= ALLOC_API; i++) {
        struct ptds_rec_API *record = append(chunks[DEFINITIONS], PTDS_REC_API, sizeof *record + strlen(names[i]) + 1);
        record->api = i;
        memcpy(record + 1, names[i], strlen(names[i]));
    }
}

void made_up_stream(uint32_t uid, uint32_t kind)
{
    struct ptds_rec_STREAM *record = append(chunks[DEFINITIONS], PTDS_REC_STREAM, sizeof *record);
    record->uid = uid;
    record->context = 1;
    record->kind = kind;
    record->state = PTDS_LIFE_SEEN;
}

void made_up_kernel(uint32_t uid, const char *name, uint32_t pointers)
{
    struct ptds_rec_STRING *string = append(chunks[DEFINITIONS], PTDS_REC_STRING, sizeof *string + strlen(name) + 1);
    string->id = (uint32_t)++strings;
    memcpy(string + 1, name, strlen(name));
    struct ptds_rec_KERNEL *record =
        append(chunks[DEFINITIONS], PTDS_REC_KERNEL, sizeof *record + pointers * sizeof(uint32_t));
    record->uid = uid;
    record->name = string->id;
    record->params = pointers;
    record->variables = PTDS_NO_VARIABLES;
    uint32_t *layout = (uint32_t *)(void *)(record + 1);
    for (uint32_t i = 0; i < pointers; i++)
        layout[i] = i * 8 << 16 | 8;
}

struct ptds_rec_CALL *made_up_call(uint32_t thread, enum made_up_api api, uint8_t op, uint32_t stream, uint32_t words)
{
    struct ptds_rec_CALL *record =
        append(chunks[ALLOCATIONS + thread], PTDS_REC_CALL, sizeof *record + words * sizeof(uint64_t));
    if (counts[thread] == CALLS_MOST)
        abort();
    calls[thread][counts[thread]++] = record;
    record->api = (uint16_t)api;
    record->op = op;
    record->context = 1;
    record->stream = record->target = stream;
    return record;
}

void made_up_memory(uint32_t uid, uint64_t address, uint64_t bytes)
{
    struct ptds_rec_CALL *record = made_up_call(0, ALLOC_API, PTDS_OP_ALLOC, 0, 3);
    record->enter = counts[0];
    record->object = uid;
    record->word[0] = address;
    record->word[1] = bytes;
    record->word[2] = PTDS_MEMORY_DEVICE;
}

struct ptds_rec_CALL *made_up_launch(uint32_t thread, uint32_t stream, uint32_t kernel, uint32_t pointers)
{
    struct ptds_rec_CALL *record = made_up_call(thread, LAUNCH_API, PTDS_OP_LAUNCH, stream, LAUNCH_WORDS_AT + pointers);
    record->object = kernel;
    for (uint32_t i = 0; i < LAUNCH_WORDS_AT; i++)
        record->word[i] = 1;
    return record;
}

uint64_t made_up_pointer(uint32_t index, uint64_t address)
{
    return address | (uint64_t)index << PTDS_LAUNCH_ADDRESS_BITS;
}

void made_up_copy(uint32_t thread, uint32_t stream, uint64_t device, uint64_t host, bool back)
{
    struct ptds_rec_CALL *record = made_up_call(thread, back ? COPY_BACK_API : COPY_API, PTDS_OP_COPY, stream, 6);
    record->kinds = back ? PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4 : PTDS_MEMORY_DEVICE | PTDS_MEMORY_PINNED << 4;
    record->flags |= back ? PTDS_CALL_IMPLICIT | PTDS_CALL_TIMED : 0;
    record->word[0] = back ? host : device;
    record->word[1] = back ? device : host;
    record->word[2] = 0x1000;
    record->word[3] = 1;
}

void made_up_event(uint32_t thread, bool wait, uint32_t event, uint32_t stream)
{
    unsigned op = wait ? PTDS_OP_EVENT_WAIT : PTDS_OP_EVENT_RECORD;
    made_up_call(thread, wait ? WAIT_API : RECORD_API, (uint8_t)op, stream, 0)->object = event;
}

static const void *next_chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    (void)source;
    *readable = PTDS_CHUNK_SIZE;
    if (index < FIRST_CALLS)
        return chunks[index];
    uint32_t thread = (uint32_t)((index - FIRST_CALLS) % made->threads) + 1;
    uint64_t unit = (index - FIRST_CALLS) / made->threads + 1;
    unsigned char *chunk = chunks[ALLOCATIONS + thread];
    if (held[thread - 1] == index)
        return chunk;
    held[thread - 1] = index;
    head_of(chunk)->sequence = index + 1;
    for (uint32_t i = 0; i < counts[thread]; i++) {
        struct ptds_rec_CALL *record = calls[thread][i];
        record->enter = made->when(thread, unit, i);
        if (record->op == PTDS_OP_EVENT_RECORD || record->op == PTDS_OP_EVENT_WAIT)
            record->generation = (uint32_t)unit;
        if (record->flags & PTDS_CALL_TIMED)
            record->leave = record->enter + STEP / 2;
    }
    if (made->change != NULL)
        made->change(thread, unit);
    return chunk;
}

uint32_t made_up_calls(uint64_t chunk)
{
    return chunk == DEFINITIONS ? 0 : chunk == ALLOCATIONS ? counts[0] : counts[(chunk - FIRST_CALLS) % made->threads + 1];
}

struct trace_source made_up_begin(const struct workload *workload, uint64_t records)
{
    uint64_t a_unit = 0;
    made = workload;
    memcpy(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic);
    header.version = PTDS_TRACE_VERSION;
    header.header_size = sizeof header;
    header.chunk_size = PTDS_CHUNK_SIZE;
    header.call_size = sizeof(struct ptds_rec_CALL);
    header.clock = PTDS_CLOCK_MONOTONIC;
    header.clean_end = 1;
    begin_chunk(chunks[DEFINITIONS], PTDS_CHUNK_DEFINITIONS, 0);
    begin_chunk(chunks[ALLOCATIONS], PTDS_CHUNK_CALLS, 1);
    define_apis();
    made->define();
    for (uint32_t thread = 1; thread <= made->threads; thread++) {
        begin_chunk(chunks[ALLOCATIONS + thread], PTDS_CHUNK_CALLS, thread);
        made->lay_out(thread);
        a_unit += counts[thread];
    }
    uint64_t units = a_unit != 0 ? (records + a_unit - 1) / a_unit : 0;
    header.chunks = FIRST_CALLS + units * made->threads;
    return (struct trace_source){
        .name = made->name, .header = &header, .header_bytes = sizeof header, .chunks = header.chunks, .chunk = next_chunk};
}
