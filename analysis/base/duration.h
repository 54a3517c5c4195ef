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

/* What to say of a text that is none. */
#define DURATION_WORDS "a number and ns, us, ms, s or m"

/* "250us", "2 ms", "1.5s", "2m" (minutes), rounded to ns. False: none, or more than some thirty years. A number alone is
 * none: nobody could tell what it means. */
bool duration_read(const char *text, uint64_t *ns);

#ifdef __cplusplus
}
#endif
#endif
