/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace: checks every chunk and record against what is there, collects definitions, counts and durations in a first
 * pass, and then hands out the calls of all threads in the order in which they were entered.
 *
 * The input is not trusted. Damage costs the rest of the chunk it is in and is remembered with its offset; it never stops
 * the reading. Times are "ticks" as in the trace until trace_ns makes them nanoseconds.
 */
#ifndef PTDS_ANALYSIS_TRACE_TRACE_H
#define PTDS_ANALYSIS_TRACE_TRACE_H

#include <string.h>

#include "analysis/trace/definitions.h"
#include "analysis/trace/trace_source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The regions (ptds.h, NVTX) that a thread was in, outermost first. */
enum { REGIONS_KEPT = 16 };
struct regions {
    uint32_t depth;                                    /* may be more than are kept */
    uint32_t name[REGIONS_KEPT], domain[REGIONS_KEPT]; /* STRING ids */
};

enum { CALL_EDGES = 8 };

/* One driver call. `r` is zero in the fields that the trace's version did not have. */
struct call {
    uint32_t thread;
    uint32_t words;                /* how many r.word there are; read them with call_word */
    const unsigned char *word;     /* inside the source */
    const struct regions *regions; /* of a call that merge_next gave; else NULL */
    /* The shim's edges for this call's sake, of a call that merge_next gave; beyond the first few only their number. */
    uint32_t edges;
    struct ptds_rec_EDGE edge[CALL_EDGES];
    struct ptds_rec_CALL r;
};

struct damage {
    uint64_t offset; /* in the file, or where it would be */
    char text[120];
};

/* The durations of one API's timed calls: a histogram of 4 steps an octave of ticks. Index api * 2 + twin. */
enum { DURATION_STEPS = 256 };
struct durations {
    uint64_t calls;
    uint32_t *steps; /* DURATION_STEPS; NULL if there are no timed calls */
};

struct chunk_ref {
    uint32_t thread;
    uint32_t bytes; /* of valid records */
    uint64_t sequence, index;
    uint64_t lost;    /* records that the thread had given up before this chunk, and one more for each place where chunks of
                         its    were overwritten */
    uint64_t ordinal; /* the how manyth of its thread; 0 unknown */
};

struct trace {
    struct trace_source source;
    struct ptds_trace_header header; /* a copy, texts cleaned and terminated */
    struct definitions defs;
    TABLE_OF(struct chunk_ref) chunks;  /* of calls; by thread, then sequence */
    TABLE_OF(struct ptds_count) counts; /* exact, of all threads; index api * 2 + twin; empty if the trace has none */
    struct ptds_default_count defaults; /* exact, of all threads and calls */
    bool has_defaults;                  /* every COUNTS chunk had them */
    TABLE_OF(struct durations) durations;
    TABLE_OF(struct damage) damages; /* the first 16 */
    uint64_t damaged;                /* how many there were */
    bool from_pinned;                /* copies from pinned memory are among them */
    uint64_t calls;                  /* CALL records that can be read */
    uint32_t flags;                  /* enum ptds_call_flags: those that any of them has */
    uint64_t ops;                    /* a bit (1 << enum ptds_op) for each that there is */
    uint64_t lost;                   /* records that their threads had to give up */
    uint64_t lost_chunks;            /* handed out, but beyond the end of the file */
    uint64_t unknown_records;        /* of a kind that this reader does not know; skipped */
    uint64_t last_ticks;             /* of any call or clock record */
    uint32_t threads;                /* that made calls or were defined */
    uint16_t fixed[32];              /* bytes of each record kind's fixed part, as this trace was written */
    bool out_of_memory;
};

/* Reads everything but the calls. 0; -1 with a message in `error` (TRACE_ERROR_SIZE): nothing can be read, because
 * this is no trace or one of a newer major version. The source must outlive the trace; close the trace with
 * trace_close in either case. */
int trace_read(struct trace *trace, const struct trace_source *source, char *error);
void trace_close(struct trace *trace);

/* How many records were not kept, of all threads: some of those that the header counts are in the chunks of the
 * threads, too. */
static inline uint64_t trace_not_kept(const struct trace *trace)
{
    return trace->lost > trace->header.refused ? trace->lost : trace->header.refused;
}

/* Whether calls that were made may have no record here. */
static inline bool trace_has_gaps(const struct trace *trace)
{
    return trace_not_kept(trace) != 0 || trace->header.recycled != 0 || trace->damaged != 0 || trace->lost_chunks != 0;
}

/* How many threads have calls that were not counted. */
static inline uint64_t trace_uncounted(const struct trace *trace)
{
    return trace->header.clean_end ? 0 : trace->header.uncounted;
}

/* Ticks between two moments as nanoseconds; 0 when ticks cannot be converted (trace_has_time is false). */
uint64_t trace_ns(const struct trace *trace, uint64_t ticks);
bool trace_has_time(const struct trace *trace);

/* The duration in ticks below which `percent` of the timed calls of this entry point lie, UINT64_MAX if there are none. */
uint64_t trace_quick_ticks(const struct trace *trace, uint32_t api, bool twin, unsigned percent);

/* Word `index` of a call, 0 where it has fewer. */
static inline uint64_t call_word(const struct call *call, uint32_t index)
{
    uint64_t word = 0;
    if (index < call->words)
        memcpy(&word, call->word + index * sizeof word, sizeof word);
    return word;
}

/* A launch's words: its shape, then a word a pointer. Of a pointer's word the address, and the byte offset of the word in
 * the kernel's parameters (a multiple of 8; 0, too, in traces that do not tell). */
enum { LAUNCH_WORDS_AT = 3 };
static inline uint64_t launch_address(uint64_t word)
{
    return word & PTDS_LAUNCH_ADDRESS_MASK;
}
static inline uint32_t launch_offset(uint64_t word)
{
    return (uint32_t)(word >> PTDS_LAUNCH_ADDRESS_BITS) * 8;
}
/* Whether the word of a launch, copy or graph launch names a memory by its uid (PTDS_REACHES_), and is no address. */
static inline bool word_reaches(uint64_t word)
{
    return word >> PTDS_LAUNCH_ADDRESS_BITS >= PTDS_REACHES_READ;
}

/* Whether the word of a launch is where a part of a memory begins or ends (PTDS_PART_), and no pointer. */
static inline bool word_is_part(uint64_t word)
{
    uint64_t place = word >> PTDS_LAUNCH_ADDRESS_BITS;
    return place == PTDS_PART_BEGIN || place == PTDS_PART_END;
}

/* For reader and merge: records lie one behind the other, and the next one is found only when this one's size has arrived:
 * what comes in a moment is asked for ahead, whatever lies there. */
static inline void record_soon(const unsigned char *record)
{
    __builtin_prefetch(record + 1024);
}
/* For reader and merge: takes the record at `offset` of a chunk's records apart.
 * 1 with *size set: a record. 0: the end. -1: damage. */
static inline int record_at(const unsigned char *records, uint32_t bytes, uint32_t offset, struct ptds_record *record)
{
    if (offset >= bytes)
        return 0;
    if (bytes - offset < sizeof *record)
        return -1;
    memcpy(record, records + offset, sizeof *record);
    return record->size < sizeof *record || record->size % 8 != 0 || record->size > bytes - offset ? -1 : 1;
}
/* The fixed part of a CALL of this size; returns how many bytes of the record that is. */
static inline uint32_t decode_fixed(const struct trace *trace, const unsigned char *record, uint32_t size,
                                    struct ptds_rec_CALL *call)
{
    uint32_t fixed = trace->fixed[PTDS_REC_CALL] < size ? trace->fixed[PTDS_REC_CALL] : size;
    if (fixed >= sizeof *call) { /* of a known size, so that it costs next to nothing */
        memcpy(call, record, sizeof *call);
    } else {
        memset(call, 0, sizeof *call);
        memcpy(call, record, fixed);
    }
    return fixed;
}
const unsigned char *trace_chunk_records(const struct trace *trace, const struct chunk_ref *chunk);

#ifdef __cplusplus
}
#endif
#endif
