/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that a call names, for rules that must know whether two calls use the same. Says nothing about memory that
 * the record does not name, but says that there may be such memory.
 */
#ifndef PTDS_ANALYSIS_ORDER_ARGUMENTS_NAMED_RANGE_H
#define PTDS_ANALYSIS_ORDER_ARGUMENTS_NAMED_RANGE_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct named_range {
    uint64_t address, size; /* size 0: from address on, how far is not seen (a kernel's argument, a freed allocation) */
    bool reads;             /* what lies there, and writes nothing; false where that is not known */
};

enum { NAMED_RANGE_MOST = 12 };

/* Returns how many were written to `out`; *all: false if the call may use more than those. */
unsigned named_range_of(const struct call *call, struct named_range out[NAMED_RANGE_MOST], bool *all);

/* Whether named_range_of is sure to say that the call may use more, as can be told of many calls without looking at their
 * words.
 */
static inline bool named_range_is_more(const struct call *call)
{
    return (call->r.flags & PTDS_CALL_OPAQUE) ||
           (call->r.op == PTDS_OP_LAUNCH && call->words - LAUNCH_WORDS_AT - 1 >= NAMED_RANGE_MOST);
}

/* Whether both certainly reach the same byte: ranges that overlap, an address inside a range, the same address. */
bool named_range_meets(struct named_range a, struct named_range b);

#ifdef __cplusplus
}
#endif
#endif
