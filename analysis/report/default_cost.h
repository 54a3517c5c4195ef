/* SPDX-License-Identifier: Apache-2.0
 *
 * What another place for the default stream's work could save.
 */
#ifndef PTDS_ANALYSIS_REPORT_DEFAULT_COST_H
#define PTDS_ANALYSIS_REPORT_DEFAULT_COST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* What another place for the default stream's work could save of the run, or why nothing. */
enum default_cost {
    DEFAULT_UP_TO,
    DEFAULT_UNUSED,    /* no operation was put on the default stream, and no call waited for work of others because of it */
    DEFAULT_ALONE,     /* one thread, one stream */
    DEFAULT_NO_WAIT,   /* no call waited longer because of it */
    DEFAULT_NEEDED,    /* every order that it put is between two calls whose results need it */
    DEFAULT_NO_FASTER, /* replayed with its times on the GPU, the run is no faster under any policy */
    DEFAULT_UNKNOWN,   /* no times, or no calls in the record */
    DEFAULT_COSTS
};

/* What a replay of the run with its times on the GPU says of every other place: the run would take so much less. */
struct default_replay {
    bool known, no_faster; /* no_faster: by no more than runs of one program differ */
    uint64_t least_ns, most_ns;
};

/* By a replay from least_ns to most_ns. Without one the gain is not known: most_ns is how long threads waited in calls
 * because of the default stream, least_ns 0. */
struct default_stream {
    enum default_cost cost;
    uint64_t least_ns, most_ns;
    bool by_replay;
    bool or_more; /* several threads share it: what launches waited, which are not timed, comes on top */
};

struct default_stream default_cost_of(const struct report *report);

extern const char *const default_cost_names[DEFAULT_COSTS]; /* of JSON */

#ifdef __cplusplus
}
#endif
#endif
