/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of the program (ptds.h, NVTX) in which no call may block for longer than a limit.
 */
#ifndef PTDS_ANALYSIS_CHECK_REGION_LIMITS_H
#define PTDS_ANALYSIS_CHECK_REGION_LIMITS_H

#include "analysis/base/table.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/many/traces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A region of the program (ptds.h) in which no call may lose more than `most` ns to waiting. */
struct region_limit {
    const char *name; /* owned by `text` */
    char *text;
    uint64_t most;
    size_t seen;     /* processes that have a region of this name */
    uint64_t unsure; /* calls in it that may have waited and were not timed */
};

/* Calls of one driver function from one call site that waited for longer than their region allows. */
struct region_break {
    size_t rule, process;
    uint32_t stack, api;
    uint64_t count, most_ns, all_ns;
};

struct region_limits {
    TABLE_OF(struct region_limit) rules;
    TABLE_OF(struct region_break) breaks; /* by time, of each process */
};

/* Adds a limit: "NAME" (no call may wait) or "NAME:max DURATION". False with a message in `error` (CHECK_ERROR_SIZE). */
bool region_limits_add(struct region_limits *check, const char *text, char *error);

/* Holds all calls of one process against the limits; `process` is its position among the traces. False without memory. */
bool region_limits_look(struct region_limits *check, const struct traced *traced, size_t process);

void region_limits_free(struct region_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
