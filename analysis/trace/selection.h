/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a trace that a report is about: threads, a stream, a range of time. Rules always see every call; a selection
 * decides which calls count as findings.
 */
#ifndef PTDS_ANALYSIS_TRACE_SELECTION_H
#define PTDS_ANALYSIS_TRACE_SELECTION_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was asked for. All zero: everything. */
struct selection {
    const char *thread; /* a uid, or a name: then all threads of that name */
    uint32_t stream;    /* a uid, as named or as sent to; 0 any */
    bool has_from, has_to;
    uint64_t from_ns, to_ns; /* since the start of the run; a call belongs by the time of its entry */
};

/* The same, looked up in a trace. */
struct selected {
    const struct selection *asked; /* NULL: everything */
    const struct trace *trace;
    TABLE_OF(uint32_t) threads;
    uint64_t start; /* ticks */
};

bool selection_is_all(const struct selection *selection);

/* Looks the selection up in a trace. `start`: the ticks that count as 0. 0; -1 with a message in `error`
 * (TRACE_ERROR_SIZE): the trace has no such thread or stream, or no times. End with selection_end in either case. */
int selection_begin(struct selected *selected, const struct selection *selection, const struct trace *trace, uint64_t start,
                    char *error);
bool selection_has_call(const struct selected *selected, const struct call *call);
static inline bool selection_has(const struct selected *selected, const struct call *call)
{
    return selected->asked == NULL || selection_has_call(selected, call);
}
/* Whether a call belongs of which only the thread, the stream that it named and its entry are known. */
bool selection_has_at(const struct selected *selected, uint32_t thread, uint32_t stream, uint64_t enter);
void selection_end(struct selected *selected);

#ifdef __cplusplus
}
#endif
#endif
