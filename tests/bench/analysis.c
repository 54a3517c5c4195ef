/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast a trace becomes a report, and in how much memory: analysis [RECORDS] [STAGE]. Run by scripts/bench analysis. The
 * trace is made up chunk by chunk while it is read, so any length fits: two threads, mostly launches with three pointers
 * each on the default stream and a few others, with copies, events and synchronisation as programs have them.
 * STAGE: source (making the trace), read (first pass), merge, model, verdicts (model and verdicts), report (all, rules
 * too).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/report.h"
#include "analysis/verdict/verdict.h"

enum { THREADS = 2, BUFFERS = 64, MEMORIES = 64, KERNELS = 16, UNIT = 200, STEP = 3000 };

static struct ptds_trace_header header;
static unsigned char definitions[PTDS_CHUNK_SIZE], allocations[PTDS_CHUNK_SIZE];
static unsigned char template_of[THREADS][PTDS_CHUNK_SIZE];
static uint32_t at_call[THREADS][UNIT * 2], calls_in[THREADS];

static void *append(unsigned char *chunk, uint16_t kind, size_t size)
{
    struct ptds_chunk *head = (struct ptds_chunk *)(void *)chunk;
    struct ptds_record *record = (struct ptds_record *)(void *)(chunk + sizeof *head + head->committed);
    size = (size + 7) / 8 * 8;
    if (sizeof *head + head->committed + size > PTDS_CHUNK_SIZE)
        abort();
    record->kind = kind;
    record->size = (uint16_t)size;
    head->committed += size;
    return record;
}

static void begin_chunk(unsigned char *chunk, uint32_t kind, uint32_t thread)
{
    *(struct ptds_chunk *)(void *)chunk = (struct ptds_chunk){.magic = PTDS_CHUNK_MAGIC, .kind = kind, .thread = thread};
}

static void define_text(uint16_t kind, uint32_t id, const char *text)
{
    struct ptds_rec_STRING *record = append(definitions, kind, sizeof *record + strlen(text) + 1);
    record->id = id;
    memcpy(record + 1, text, strlen(text));
}

enum { LEGACY = 1, BLOCKING, NON_BLOCKING, OTHER, STREAMS };
enum { LAUNCH_API = 1, COPY_API, MEMSET_API, RECORD_API, WAIT_API, SYNC_API, ALLOC_API };

static void define(void)
{
    static const char *const apis[] = {"",
                                       "cuLaunchKernel",
                                       "cuMemcpyHtoDAsync_v2",
                                       "cuMemcpyDtoH_v2",
                                       "cuEventRecord",
                                       "cuStreamWaitEvent",
                                       "cuStreamSynchronize",
                                       "cuMemAlloc_v2"};
    static const uint32_t kinds[] = {0, PTDS_STREAM_LEGACY, PTDS_STREAM_BLOCKING, PTDS_STREAM_NON_BLOCKING,
                                     PTDS_STREAM_NON_BLOCKING};
    begin_chunk(definitions, PTDS_CHUNK_DEFINITIONS, 0);
    for (uint16_t i = 1; i <= ALLOC_API; i++) {
        struct ptds_rec_API *record = append(definitions, PTDS_REC_API, sizeof *record + strlen(apis[i]) + 1);
        record->api = i;
        memcpy(record + 1, apis[i], strlen(apis[i]));
    }
    for (uint32_t i = 1; i < STREAMS; i++) {
        struct ptds_rec_STREAM *record = append(definitions, PTDS_REC_STREAM, sizeof *record);
        record->uid = i;
        record->context = 1;
        record->kind = kinds[i];
        record->state = PTDS_LIFE_SEEN;
    }
    define_text(PTDS_REC_STRING, 1, "_Z4stepPfPKfS1_");
    for (uint32_t i = 1; i <= KERNELS; i++) {
        struct ptds_rec_KERNEL *record = append(definitions, PTDS_REC_KERNEL, sizeof *record + 3 * sizeof(uint32_t));
        record->uid = i;
        record->name = 1;
        record->params = 3;
        uint32_t *layout = (uint32_t *)(void *)(record + 1);
        for (uint32_t k = 0; k < 3; k++)
            layout[k] = k * 8 << 16 | 8;
    }
}

static uint64_t address(uint32_t memory)
{
    return 0x7f0000000000u + (uint64_t)memory * 0x200000;
}

static struct ptds_rec_CALL *call(unsigned char *chunk, uint16_t api, uint8_t op, uint32_t stream, uint32_t words)
{
    struct ptds_rec_CALL *record = append(chunk, PTDS_REC_CALL, sizeof *record + words * 8);
    record->api = api;
    record->op = op;
    record->context = 1;
    record->stream = record->target = stream;
    record->flags = stream == LEGACY ? PTDS_CALL_LEGACY : 0;
    record->stack = 0;
    return record;
}

static void allocate(void)
{
    begin_chunk(allocations, PTDS_CHUNK_CALLS, 1);
    for (uint32_t i = 0; i < MEMORIES; i++) {
        struct ptds_rec_CALL *record = call(allocations, ALLOC_API, PTDS_OP_ALLOC, 0, 3);
        record->enter = i + 1;
        record->object = i + 1;
        record->word[0] = address(i);
        record->word[1] = 0x100000;
        record->word[2] = PTDS_MEMORY_DEVICE;
    }
}

/* The thread's own half of the memory, now and then the other's. */
static uint64_t some_memory(uint32_t thread, uint32_t i)
{
    uint32_t half = i % 29 == 0 ? 2 - thread : thread - 1;
    return address(half * (MEMORIES / 2) + i * 7 % (MEMORIES / 2));
}

static void launch(unsigned char *chunk, uint32_t thread, uint32_t stream, uint32_t i)
{
    struct ptds_rec_CALL *record = call(chunk, LAUNCH_API, PTDS_OP_LAUNCH, stream, LAUNCH_WORDS_AT + 3);
    record->object = i % KERNELS + 1;
    for (uint32_t k = 0; k < LAUNCH_WORDS_AT; k++)
        record->word[k] = 1;
    for (uint32_t k = 0; k < 3; k++)
        record->word[LAUNCH_WORDS_AT + k] = some_memory(thread, i * 3 + k) | (uint64_t)k << PTDS_LAUNCH_ADDRESS_BITS;
}

static void copy(unsigned char *chunk, uint16_t api, uint32_t thread, uint32_t stream, uint32_t i, bool back)
{
    struct ptds_rec_CALL *record = call(chunk, api, PTDS_OP_COPY, stream, 6);
    record->kinds = back ? PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4 : PTDS_MEMORY_DEVICE | PTDS_MEMORY_PINNED << 4;
    record->flags |= back ? PTDS_CALL_IMPLICIT : 0;
    record->word[back ? 1 : 0] = some_memory(thread, i);
    record->word[back ? 0 : 1] = 0x555500000000u + i * 0x10000;
    record->word[2] = 0x1000;
    record->word[3] = 1;
}

static void event(unsigned char *chunk, uint32_t thread, uint32_t from, uint32_t to)
{
    call(chunk, RECORD_API, PTDS_OP_EVENT_RECORD, from, 0)->object = thread;
    call(chunk, WAIT_API, PTDS_OP_EVENT_WAIT, to, 0)->object = thread;
}

/* A chunk of one thread: times and generations are filled in when it is read. */
static void make_template(uint32_t thread)
{
    unsigned char *chunk = template_of[thread - 1];
    uint32_t main_stream = thread == 1 ? LEGACY : OTHER, side = thread == 1 ? BLOCKING : NON_BLOCKING;
    begin_chunk(chunk, PTDS_CHUNK_CALLS, thread);
    for (uint32_t i = 0; i < UNIT - 14; i++) {
        launch(chunk, thread, i % 8 == 7 ? side : i % 50 == 0 ? (uint32_t)LEGACY : main_stream, i);
        if (i % 25 == 24)
            copy(chunk, COPY_API, thread, side, i, false);
        if (i % 90 == 89)
            event(chunk, thread, side, main_stream);
    }
    call(chunk, SYNC_API, PTDS_OP_STREAM_SYNC, side, 0);
    copy(chunk, MEMSET_API, thread, LEGACY, 1, true);
    const struct ptds_chunk *head = (const struct ptds_chunk *)(void *)chunk;
    for (uint32_t at = 0; at < head->committed; at += ((struct ptds_record *)(void *)(chunk + sizeof *head + at))->size)
        at_call[thread - 1][calls_in[thread - 1]++] = (uint32_t)sizeof *head + at;
}

static const void *next_chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    static unsigned char buffers[THREADS][PTDS_CHUNK_SIZE];
    static uint64_t held[THREADS];
    (void)source;
    *readable = PTDS_CHUNK_SIZE;
    if (index < 2)
        return index == 0 ? definitions : allocations;
    uint32_t thread = (uint32_t)(index % THREADS);
    uint64_t unit = index / THREADS;
    unsigned char *chunk = buffers[thread];
    if (held[thread] == index)
        return chunk;
    if (held[thread] == 0)
        memcpy(chunk, template_of[thread], PTDS_CHUNK_SIZE);
    held[thread] = index;
    ((struct ptds_chunk *)(void *)chunk)->sequence = index + 1;
    for (uint32_t i = 0; i < calls_in[thread]; i++) {
        struct ptds_rec_CALL *record = (struct ptds_rec_CALL *)(void *)(chunk + at_call[thread][i]);
        record->enter = 1000000 + (unit * calls_in[thread] + i) * STEP + thread;
        if (record->op == PTDS_OP_EVENT_RECORD || record->op == PTDS_OP_EVENT_WAIT)
            record->generation = (uint32_t)unit;
        if (record->op == PTDS_OP_STREAM_SYNC || (record->flags & PTDS_CALL_IMPLICIT)) {
            record->flags |= PTDS_CALL_TIMED;
            record->leave = record->enter + STEP / 2;
        }
    }
    return chunk;
}

static struct trace_source make_source(uint64_t records)
{
    memcpy(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic);
    header.version = PTDS_TRACE_VERSION;
    header.header_size = sizeof header;
    header.chunk_size = PTDS_CHUNK_SIZE;
    header.call_size = sizeof(struct ptds_rec_CALL);
    header.clock = PTDS_CLOCK_MONOTONIC;
    header.clean_end = 1;
    define();
    allocate();
    make_template(1);
    make_template(2);
    uint64_t chunks = 2 + records * THREADS / (calls_in[0] + calls_in[1]);
    header.chunks = chunks;
    return (struct trace_source){
        .name = "made up", .header = &header, .header_bytes = sizeof header, .chunks = chunks, .chunk = next_chunk};
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t settled[VERDICTS];

static void count_edge(struct edge_sink *sink, const struct edge *edge)
{
    (void)sink;
    settled[edge->verdict]++;
}

enum stage { SOURCE, READ, MERGE, MODEL, JUDGE, REPORT, STAGES };
static const char *const stages[STAGES] = {"source", "read", "merge", "model", "verdicts", "report"};

static uint64_t run_calls(const struct trace *trace, enum stage stage)
{
    struct edge_sink sink = {.edge = count_edge};
    struct verdicts *engine = stage >= JUDGE ? verdicts_begin(trace, &sink) : NULL;
    struct model model;
    struct merge merge;
    uint64_t calls = 0;
    const struct call *next;
    model_begin(&model, trace, false);
    if (merge_begin(&merge, trace) != 0)
        abort();
    while ((next = merge_next(&merge)) != NULL) {
        struct call_view view;
        calls++;
        if (stage < MODEL || !model_enter(&model, next, &view))
            continue;
        if (engine != NULL)
            verdicts_take(engine, &view, merge_in_gap(&merge));
        model_leave(&model, &view);
    }
    verdicts_end(engine, NULL);
    merge_end(&merge);
    model_end(&model);
    return calls;
}

static uint64_t run(const struct trace_source *source, enum stage stage)
{
    static struct report report;
    static struct trace trace;
    char error[TRACE_ERROR_SIZE];
    uint64_t calls = 0;
    size_t readable;
    if (stage == SOURCE) {
        for (uint64_t i = 0; i < source->chunks; i++)
            calls += source->chunk(source, i, &readable) != NULL ? calls_in[i % THREADS] : 0;
        return calls;
    }
    if (stage == REPORT) {
        if (report_build(&report, source, error) != 0)
            abort();
        for (unsigned i = 0; i < VERDICTS; i++)
            settled[i] = edge_table_count(&report.edges, (enum verdict)i);
        calls = report.totals.recorded;
        report_end(&report);
        return calls;
    }
    if (trace_read(&trace, source, error) != 0)
        abort();
    calls = stage == READ ? trace.calls : run_calls(&trace, stage);
    trace_close(&trace);
    return calls;
}

int main(int argc, char **argv)
{
    struct trace_source source = make_source(argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000);
    struct rusage usage;
    for (unsigned stage = 0; stage < STAGES; stage++) {
        if (argc > 2 && strcmp(argv[2], stages[stage]) != 0)
            continue;
        double began = seconds();
        uint64_t calls = run(&source, (enum stage)stage);
        double took = seconds() - began;
        getrusage(RUSAGE_SELF, &usage);
        printf("%-10s %12llu records %8.2f s %8.2f million records/s %8.1f MiB peak\n", stages[stage],
               (unsigned long long)calls, took, (double)calls / took / 1e6, (double)usage.ru_maxrss / 1024);
    }
    printf("edges: %llu false, %llu load-bearing, %llu unknown\n", (unsigned long long)settled[0],
           (unsigned long long)settled[1], (unsigned long long)settled[2]);
    return 0;
}
