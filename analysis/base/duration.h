/* SPDX-License-Identifier: Apache-2.0
 *
 * Durations as people write them.
 */
#ifndef PTDS_ANALYSIS_BASE_DURATION_H
#define PTDS_ANALYSIS_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For messages about a text that is no duration. */
#define DURATION_WORDS "a number and ns, us, ms, s or m"

/* Reads "250us", "2 ms", "1.5s", "2m" (minutes) into *ns, rounded. False, and *ns untouched: the text is no duration,
 * has no unit, or is longer than some thirty years. */
bool duration_read(const char *text, uint64_t *ns);

#ifdef __cplusplus
}
#endif
#endif
