/* SPDX-License-Identifier: Apache-2.0
 *
 * An answer in words.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_POLICY_ANSWER_WORDS_H
#define PTDS_ANALYSIS_PROBE_ANSWER_POLICY_ANSWER_WORDS_H

#include "analysis/base/line.h"
#include "analysis/probe/answer/policy_answer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the answer is about times: "right" or "slower", not where something else is wrong. */
bool policy_answer_words_tell_times(const struct answer *answer);

/* "right under guarded; the CUDA part 2.6x faster (12.4 ms, bare 32.3 ms), the whole process 1.2x faster (575.9 ms, ...)"
 */
struct sentence {
    char text[2 * sizeof(struct line)];
};

struct sentence policy_answer_words_line(const struct answer *answer, const struct evidence *evidence);

/* What the shaken runs of one policy showed: "as bare in 5 runs", or how the first that was not differs, and its seed. */
struct line policy_answer_words_shaken(const struct facts *shaken);

/* "ended by signal 11", "ended with status 3", ... */
struct line policy_answer_words_ending(struct ending ending, uint64_t limit_ns);

#ifdef __cplusplus
}
#endif
#endif
