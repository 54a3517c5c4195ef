/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of all threads of a trace, in the order in which they were entered.
 */
#ifndef PTDS_ANALYSIS_TRACE_MERGE_H
#define PTDS_ANALYSIS_TRACE_MERGE_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All calls, by time of entry, ties by thread. Memory: one cursor a thread. */
struct merge_cursor {
    uint32_t chunk, last_chunk;   /* positions in trace->chunks: now, and one past this thread's last */
    uint32_t offset, bytes;       /* in the chunk's records; and how many there are */
    const unsigned char *records; /* of the chunk, NULL: not asked for yet */
    uint64_t lost;                /* the thread had given up so many records before the call */
    bool gap;                     /* some of them since the call before */
    uint32_t edges;               /* of the call to come, in call.edge */
    struct regions regions;
    struct call call;
};

struct merge {
    const struct trace *trace;
    struct merge_cursor *cursors;
    struct merge_next {
        uint64_t enter; /* of the cursor's next call */
        uint32_t thread, cursor;
    } * heap;
    uint32_t count;
    uint64_t until;           /* calls of the heap's top before this time come before all others */
    uint32_t gaps;            /* cursors whose next call has a gap before it */
    uint32_t fixed;           /* bytes of a CALL but for its words */
    struct merge_cursor *top; /* the heap's, once it has been handed out */
    bool handed;              /* it has */
};

/* Begins. 0; -1 without memory. End with merge_end in either case. */
int merge_begin(struct merge *merge, const struct trace *trace);

/* The next call, valid until the next merge_next; NULL at the end. */
const struct call *merge_next(struct merge *merge);

/* Whether records are missing between the calls handed out so far and some call still to come. */
static inline bool merge_in_gap(const struct merge *merge)
{
    return merge->gaps != 0;
}

void merge_end(struct merge *merge);

#ifdef __cplusplus
}
#endif
#endif
