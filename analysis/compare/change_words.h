/* SPDX-License-Identifier: Apache-2.0
 *
 * A change in words, for `ptds check` and `ptds diff` alike.
 */
#ifndef PTDS_ANALYSIS_COMPARE_CHANGE_WORDS_H
#define PTDS_ANALYSIS_COMPARE_CHANGE_WORDS_H

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/compare/compare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "cuLaunchKernel of spin_ns in work"; of work on the GPU "kernel spin_ns", "cuMemcpyDtoH_v2"; of a finding without a call,
 * what it is about. */
void change_words_row(const struct row *row, char *out, size_t room);
/* "800 calls a run, was 400 (398 to 402)", of the GPU "operations": the spread where there is one. */
struct line change_words_calls(const struct comparison *comparison, const struct changed *changed);
/* Of calls of a function that is new: "all functions together make 130 a run, was 100". */
struct line change_words_all_calls(const struct comparison *comparison, const struct changed *changed);
/* "9.0 ms a run, was 5.0 ms (4.8 to 5.2 ms)", of the GPU "ran 9.0 ms ..."; empty where neither side knows a time. */
struct line change_words_time(const struct comparison *comparison, const struct changed *changed);
/* "22.5 us a call, was 12.5 us"; empty likewise. */
struct line change_words_per_call(const struct changed *changed);
/* "+100 %", "-50 %"; of what was nothing, or is, empty. */
struct small_text change_words_share(double before, double after);
/* "default-stream work ran 24.0 ms a run on the GPU (23.9 to 24.1 ms), was 12.0 ms (...)", "the GPU was idle 40 % ..." */
struct line change_words_gpu(const struct comparison *comparison, enum gpu_measure measure);
/* "5 runs", "3 runs of 2 processes" */
struct line change_words_runs(const struct history *history);

#ifdef __cplusplus
}
#endif
#endif
