/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings that belong together because removing one wait only exposes the next. Two findings are one sequence if, in more
 * than half of the first one's blocked calls, the thread's next blocked call belonged to the second one and began sooner
 * after the first had returned than the first one's wait had lasted: without the first wait, the second would have been
 * longer by nearly as much.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_SEQUENCE_H
#define PTDS_ANALYSIS_FINDINGS_SEQUENCE_H

#include "analysis/base/id_map.h"
#include "analysis/model/model.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEQUENCE_PAIRS = 65536 };

struct sequence_thread {
    uint64_t left, lost_ns; /* of its last blocked call */
    uint32_t serial;
};

struct sequence_pair {
    uint32_t first, second; /* serials */
    uint64_t count;
};

struct sequence_search {
    TABLE_OF(struct sequence_thread) threads;
    struct id_map thread_at;
    TABLE_OF(struct sequence_pair) pairs;
    struct id_map pair_at;
    TABLE_OF(uint64_t) blocked; /* calls by serial */
    TABLE_OF(uint32_t) leader;  /* by serial, after sequence_decide; a serial that leads itself alone is in no sequence */
};

/* Takes a call that belongs to the finding with this serial (from 1). Calls that did not block say nothing. */
void sequence_blocked(struct sequence_search *search, const struct trace *trace, const struct call_view *view,
                      uint32_t serial);
static inline void sequence_call(struct sequence_search *search, const struct trace *trace, const struct call_view *view,
                                 uint32_t serial)
{
    if (serial != 0 && view->blocked)
        sequence_blocked(search, trace, view, serial);
}

/* Decides which findings are sequences. After the last call. */
void sequence_decide(struct sequence_search *search);

/* The same number for all findings of a sequence; 0 for serial 0 and for those that the search never saw. */
uint32_t sequence_leader(const struct sequence_search *search, uint32_t serial);

void sequence_search_free(struct sequence_search *search);

#ifdef __cplusplus
}
#endif
#endif
