/* SPDX-License-Identifier: Apache-2.0
 *
 * What a finding has to save to be told by itself, not in one line with others.
 */
#ifndef PTDS_ANALYSIS_REPORT_FLOOR_H
#define PTDS_ANALYSIS_REPORT_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Findings that save less than both are told in one line a cause. */
struct floor {
    double percent; /* of the time from the first GPU work on (rank_floor_ns) */
    uint64_t ns;
};

#define FLOOR_DEFAULT ((struct floor){1.0, 100000})

/* Reads "2%", "250us", "2%,1ms", "0" (all findings). False: the text is no floor. */
bool floor_parse(const char *text, struct floor *floor);

/* The larger of the two, in ns; `whole` is what the share is of, in ns. */
uint64_t floor_ns(struct floor floor, uint64_t whole);

#ifdef __cplusplus
}
#endif
#endif
