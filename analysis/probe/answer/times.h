/* SPDX-License-Identifier: Apache-2.0
 *
 * What a few rounds' times say: the median, and how far they lie apart. Pure.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_TIMES_H
#define PTDS_ANALYSIS_PROBE_ANSWER_TIMES_H

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

/* What any program may differ by, however close its rounds lie: the shim is loaded (0.5 ms) and makes streams (18 us each
 * on an H200) once, and on a busy machine a thread is woken late. */
enum { TIMES_FLOOR_NS = 1000000 };

/* Of two sets of rounds: how far apart their medians may lie and no difference can be measured. The floor, what the rounds
 * of either differ by among themselves, or 1 % of bare's, whichever is most. */
uint64_t times_noise(const struct times *bare, const struct times *other);
/* They do not differ, and what calls that so is the floor alone. */
bool times_under_floor(const struct times *bare, const struct times *other);

enum pace { PACE_SAME, PACE_FASTER, PACE_SLOWER, PACE_UNKNOWN };
extern const char *const pace_names[]; /* of JSON */

/* Faster or slower: every round is, and the medians lie further apart than their noise. Unknown: fewer than three rounds of
 * either. Of equal programs three rounds call one slower in one of 45 cases at most, six in one of 1400.
 */
enum pace times_pace(const struct times *bare, const struct times *other);
/* Whether more rounds are to settle it: it seems slower, or faster by little. */
bool times_doubtful(const struct times *bare, const struct times *other);

#ifdef __cplusplus
}
#endif
#endif
