/* SPDX-License-Identifier: Apache-2.0
 *
 * The event waits that a program needs to be right when it is compiled with --default-stream per-thread: the orders between
 * conflicting operations that legacy order keeps and that policy per-thread does not. Worked out from a trace of any
 * policy, in one pass of its own.
 *
 * A wait is: record an event right after one operation, on its stream, and wait for it right before another. What is listed
 * as needed keeps, by itself, all orders that are known to be needed; with what is listed as maybe needed, those that may
 * be, too. An order that other waits imply, or what the program does anyway, is not listed: of the waits between two
 * operations that conflict there is no smaller set (repair.c says why).
 */
#ifndef PTDS_ANALYSIS_REPAIR_REPAIR_H
#define PTDS_ANALYSIS_REPAIR_REPAIR_H

#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Places: pairs of call sites. Waits beyond what is kept one by one are counted. */
enum { REPAIR_PLACES_MOST = 4096, REPAIR_WAITS_MOST = 1 << 20 };

/* One wait. Calls are by number, from 1, in the order of their entry. */
struct repair_wait {
    uint64_t first, second;
    enum conflict_at at; /* AFTER_WAIT: the host waits right after the second call; else before it */
    enum verdict verdict;
    enum verdict_reason reason; /* of maybe needed */
};

/* Waits of one kind between the same two call sites. */
struct repair_place {
    uint64_t waits;
    uint64_t calls; /* at the site that waits, all in all */
    enum conflict_at at;
    enum verdict verdict;
    enum verdict_reason reason; /* the first one's, if maybe needed */
    struct edge_end first, second;
    struct edge_pair pair;          /* why: of the first one, or of the first that names a memory */
    bool one_memory;                /* all of them are about the same allocation */
    bool more_firsts, more_seconds; /* threads or streams beside that of `first`; of `second` */
    struct edge_end made;           /* the call that allocated the pair's memory; thread 0: not known */
};

struct repair {
    TABLE_OF(struct repair_wait) waits;
    TABLE_OF(struct repair_place) places; /* needed ones first, then by how often */
    uint64_t needed, maybe_needed;        /* waits */
    uint64_t unplaced;                    /* of them, in no place: there were too many */
    bool strict; /* the run was under policy strict: the list has waits for what the program itself leaves without an order,
                    too */
    bool partly; /* records are missing, or there was more than is followed: waits may be missing */
    bool wide;   /* ... so that there may be waits that others imply */
};

/* 0, or -1 without memory. The policy: enum order_policy. End with repair_end in either case. */
int repair_of(struct repair *repair, const struct report *report, unsigned policy);
void repair_end(struct repair *repair);

#ifdef __cplusplus
}
#endif
#endif
