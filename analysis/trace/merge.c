/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges the threads' calls by time of entry: a binary heap of one cursor a thread. Called after trace_read; reads the
 * source again, so everything is bounds-checked again (a running process may have recycled a chunk in between).
 */
#include "analysis/trace/merge.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"

#include "analysis/trace/records.h"

/* The innermost region of the domain ends. Those too deep to be kept are taken for the first to end. */
static void end_region(struct regions *regions, uint32_t domain)
{
    uint32_t at = regions->depth;
    if (regions->depth > REGIONS_KEPT) {
        regions->depth--;
        return;
    }
    while (at > 0 && regions->domain[at - 1] != domain)
        at--;
    if (at == 0)
        return;
    for (; at < regions->depth; at++) {
        regions->name[at - 1] = regions->name[at];
        regions->domain[at - 1] = regions->domain[at];
    }
    regions->depth--;
}

/* Ranges of the process are no thread's regions. */
static void take_region(struct regions *regions, const struct ptds_rec_REGION *record)
{
    if (record->range != 0)
        return;
    if (record->name == 0) {
        end_region(regions, record->domain);
        return;
    }
    if (regions->depth < REGIONS_KEPT) {
        regions->name[regions->depth] = record->name;
        regions->domain[regions->depth] = record->domain;
    }
    regions->depth += regions->depth != UINT32_MAX;
}

static void take_edge(struct merge_cursor *cursor, const struct ptds_rec_EDGE *record)
{
    if (cursor->edges < CALL_EDGES)
        cursor->call.edge[cursor->edges] = *record;
    cursor->edges += cursor->edges != UINT32_MAX;
}

/* The call at the record goes out next; behind so many bytes its words begin. */
static inline void take_words(struct merge_cursor *cursor, const unsigned char *record, uint32_t size, uint32_t fixed)
{
    struct call *call = &cursor->call;
    call->word = record + fixed;
    call->words = (size - fixed) / 8;
    call->edges = cursor->edges;
    cursor->edges = 0;
}

static inline void take_call(const struct trace *trace, struct merge_cursor *cursor, const unsigned char *record,
                             uint32_t size)
{
    take_words(cursor, record, size, decode_fixed(trace, record, size, &cursor->call.r));
}

/* What the thread had given up before a chunk, it gave up before the chunk's first call. */
static void note_gap(const struct trace *trace, struct merge_cursor *cursor)
{
    uint64_t lost = trace->chunks.items[cursor->chunk].lost;
    cursor->gap = lost > cursor->lost;
    cursor->lost = lost > cursor->lost ? lost : cursor->lost;
}

static RARE void take_other(const struct trace *trace, struct merge_cursor *cursor, const struct ptds_record *record,
                            const unsigned char *bytes)
{
    union any_record fixed;
    if (record->kind == PTDS_REC_REGION && records_fixed(trace, record, bytes, &fixed) != 0)
        take_region(&cursor->regions, &fixed.REGION);
    else if (record->kind == PTDS_REC_EDGE && records_fixed(trace, record, bytes, &fixed) != 0)
        take_edge(cursor, &fixed.EDGE);
}

/* Past other records, or on to the thread's next chunk. */
static ASIDE bool advance_far(const struct trace *trace, struct merge_cursor *cursor)
{
    for (; cursor->chunk < cursor->last_chunk; cursor->chunk++, cursor->offset = 0, cursor->records = NULL) {
        const struct chunk_ref *chunk = &trace->chunks.items[cursor->chunk];
        struct ptds_record record;
        cursor->bytes = chunk->bytes;
        if (cursor->records == NULL)
            cursor->records = trace_chunk_records(trace, chunk);
        while (cursor->records != NULL && record_at(cursor->records, cursor->bytes, cursor->offset, &record) > 0) {
            const unsigned char *at = cursor->records + cursor->offset;
            cursor->offset += record.size;
            if (record.kind == PTDS_REC_CALL) {
                take_call(trace, cursor, at, record.size);
                note_gap(trace, cursor);
                return true;
            }
            take_other(trace, cursor, &record, at);
        }
    }
    return false;
}

/* Moves to the thread's next call; false at its end. Mostly it is the next record. */
static INLINE bool advance(const struct trace *trace, struct merge_cursor *cursor)
{
    struct ptds_record record;
    const unsigned char *records = cursor->records;
    if (records == NULL || record_at(records, cursor->bytes, cursor->offset, &record) <= 0 || record.kind != PTDS_REC_CALL)
        return advance_far(trace, cursor);
    record_soon(records + cursor->offset);
    take_call(trace, cursor, records + cursor->offset, record.size);
    cursor->offset += record.size;
    return true;
}

static bool before(const struct merge_next *one, const struct merge_next *two)
{
    return one->enter != two->enter ? one->enter < two->enter : one->thread < two->thread;
}

static struct merge_next next_of(const struct merge *merge, uint32_t cursor)
{
    const struct call *call = &merge->cursors[cursor].call;
    return (struct merge_next){call->r.enter, call->thread, cursor};
}

static inline void sift_down(struct merge *merge, uint32_t at)
{
    struct merge_next *heap = merge->heap, moved = heap[at];
    for (uint32_t child; (child = at * 2 + 1) < merge->count; at = child) {
        if (child + 1 < merge->count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static uint64_t until(const struct merge *merge)
{
    uint64_t one = merge->count > 1 ? merge->heap[1].enter : UINT64_MAX;
    return merge->count > 2 && merge->heap[2].enter < one ? merge->heap[2].enter : one;
}

static uint32_t count_threads(const struct trace *trace)
{
    uint32_t threads = 0;
    for (size_t i = 0; i < trace->chunks.count; i++)
        threads += i == 0 || trace->chunks.items[i].thread != trace->chunks.items[i - 1].thread;
    return threads;
}

int merge_begin(struct merge *merge, const struct trace *trace)
{
    *merge = (struct merge){.trace = trace, .fixed = trace->fixed[PTDS_REC_CALL]};
    uint32_t threads = count_threads(trace);
    merge->cursors = heap_zeroed(threads + 1, sizeof *merge->cursors);
    merge->heap = heap_zeroed(threads + 1, sizeof *merge->heap);
    if (merge->cursors == NULL || merge->heap == NULL)
        return -1;
    uint32_t used = 0;
    for (uint32_t i = 0; i < trace->chunks.count;) {
        struct merge_cursor *cursor = &merge->cursors[used];
        cursor->chunk = i;
        while (i < trace->chunks.count && trace->chunks.items[i].thread == trace->chunks.items[cursor->chunk].thread)
            i++;
        cursor->last_chunk = i;
        cursor->offset = 0;
        cursor->call.thread = trace->chunks.items[cursor->chunk].thread;
        cursor->call.regions = &cursor->regions;
        if (advance(trace, cursor)) {
            merge->heap[merge->count++] = next_of(merge, used);
            merge->gaps += cursor->gap;
        }
        used++;
    }
    for (uint32_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
    return 0;
}

/* The top's calls may come after others now. */
static ASIDE const struct call *sort(struct merge *merge)
{
    if (merge->count == 0) /* the end, or merge_begin had no memory */
        return NULL;
    if (merge->count > 1)
        sift_down(merge, 0);
    merge->until = until(merge);
    merge->handed = true;
    merge->top = &merge->cursors[merge->heap[0].cursor];
    return &merge->top->call;
}

/* The call handed out last is still the heap's top; only now may its cursor move on. */
static ASIDE const struct call *move_on(struct merge *merge)
{
    if (!merge->handed || merge->count == 0)
        return sort(merge);
    struct merge_cursor *cursor = &merge->cursors[merge->heap[0].cursor];
    if (cursor->gap) {
        merge->gaps--;
        cursor->gap = false;
    }
    if (advance(merge->trace, cursor)) {
        merge->gaps += cursor->gap;
        merge->heap[0].enter = cursor->call.r.enter;
    } else {
        merge->heap[0] = merge->heap[--merge->count];
    }
    return sort(merge);
}

/* Mostly the thread goes on, with a call of the size that this version knows. */
const struct call *merge_next(struct merge *merge)
{
    struct merge_cursor *cursor = merge->top;
    struct ptds_record record;
    if (cursor == NULL || cursor->gap || cursor->records == NULL ||
        record_at(cursor->records, cursor->bytes, cursor->offset, &record) <= 0 || record.kind != PTDS_REC_CALL ||
        merge->fixed < sizeof cursor->call.r || record.size < sizeof cursor->call.r)
        return move_on(merge);
    const unsigned char *at = cursor->records + cursor->offset;
    record_soon(at);
    cursor->offset += record.size;
    memcpy(&cursor->call.r, at, sizeof cursor->call.r);
    take_words(cursor, at, record.size, merge->fixed < record.size ? merge->fixed : record.size);
    if (cursor->call.r.enter < merge->until)
        return &cursor->call;
    merge->heap[0].enter = cursor->call.r.enter;
    return sort(merge);
}

void merge_end(struct merge *merge)
{
    free(merge->cursors);
    free(merge->heap);
    *merge = (struct merge){0};
}
