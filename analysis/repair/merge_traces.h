/* SPDX-License-Identifier: Apache-2.0
 *
 * The repairs of several traces as one: the same pair of call sites is one place, with in how many traces it needs waits.
 */
#ifndef PTDS_ANALYSIS_REPAIR_MERGE_TRACES_H
#define PTDS_ANALYSIS_REPAIR_MERGE_TRACES_H

#include "analysis/repair/repair.h"
#include "analysis/report/many/traces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose calls, names and memory a place shows: the trace that has most of its waits, by its position. */
struct repair_origin {
    size_t trace, traces; /* traces: how many have waits there */
};

struct repairs {
    struct repair all;                    /* of all traces; without `waits`. `partly`, `wide`: of any */
    TABLE_OF(struct repair_origin) where; /* of each of all.places */
    size_t traces, needing, maybe;        /* looked at; with needed waits; with no others than maybe needed ones */
};

/* 0, or -1 without memory. End with merge_traces_end in either case. */
int merge_traces_repairs(struct repairs *repairs, const struct traces *traces, unsigned policy);
void merge_traces_end(struct repairs *repairs);

#ifdef __cplusplus
}
#endif
#endif
