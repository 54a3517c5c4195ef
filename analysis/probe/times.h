/* SPDX-License-Identifier: Apache-2.0
 *
 * What a few rounds' times say: the median, and how far they lie apart. Pure.
 */
#ifndef PTDS_ANALYSIS_PROBE_TIMES_H
#define PTDS_ANALYSIS_PROBE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ns */
struct times {
    size_t count;
    uint64_t median, least, most;
    uint64_t spread; /* from the fastest to the slowest; of five and more, without these two */
};

/* Brings them into order. */
struct times times_of(uint64_t *ns, size_t count);

enum pace { PACE_SAME, PACE_FASTER, PACE_SLOWER, PACE_UNKNOWN };

/* Faster or slower: every round is, and the medians lie further apart than the rounds of either do, and than 1 %. Unknown:
 * fewer than three rounds of either. Of equal programs three rounds call one slower in one of 45 cases, six in one of 1400.
 */
enum pace times_pace(const struct times *bare, const struct times *other);
/* Whether more rounds are to settle it: it seems slower, or faster by little. */
bool times_doubtful(const struct times *bare, const struct times *other);

#ifdef __cplusplus
}
#endif
#endif
