/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy's words as rows of bytes, one side at a time: for the engine and for rules. The words are untrusted.
 */
#ifndef PTDS_ANALYSIS_ORDER_ARGUMENTS_COPY_ROWS_H
#define PTDS_ANALYSIS_ORDER_ARGUMENTS_COPY_ROWS_H

#include "analysis/trace/trace.h"

enum { COPY_ROWS_SPANS_AT = 6 };

struct copy_rows {
    uint64_t width, height, pitch;
};

/* Whether the call says how far each side goes. */
static inline bool copy_rows_have_spans(const struct call *call)
{
    return call->words >= COPY_ROWS_SPANS_AT + 2 && !word_reaches(call_word(call, COPY_ROWS_SPANS_AT));
}

/* Where slices do not follow each other row by row: two rows, the first and the last of all. */
static inline struct copy_rows copy_rows_of(const struct call *call, bool to)
{
    struct copy_rows rows = {call_word(call, 2), call_word(call, 3), call_word(call, to ? 4 : 5)};
    uint64_t span = copy_rows_have_spans(call) ? call_word(call, to ? COPY_ROWS_SPANS_AT : COPY_ROWS_SPANS_AT + 1) : 0;
    return span > rows.width ? (struct copy_rows){rows.width, 2, span - rows.width} : rows;
}

/* The word that names what an array of the copy is, or is a part of; the first or the second. */
static inline uint64_t copy_rows_reached(const struct call *call, unsigned which)
{
    return call_word(call, COPY_ROWS_SPANS_AT + (copy_rows_have_spans(call) ? 2 : 0) + which);
}

#endif
