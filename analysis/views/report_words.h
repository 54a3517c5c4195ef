/* SPDX-License-Identifier: Apache-2.0
 *
 * What all writers of reports say alike: names of places and ids, verdicts, sums, gaps. Decides nothing.
 */
#ifndef PTDS_ANALYSIS_VIEWS_REPORT_WORDS_H
#define PTDS_ANALYSIS_VIEWS_REPORT_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/report.h"
#include "analysis/symbols/namer.h"
#include "analysis/base/text.h"
#include "analysis/report/outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The words of a frame ("libfoo.so+0x41a0 symbol"), and of the first frame of a stack outside of the CUDA runtime and
 * driver. Both write terminated text. False: no such frame is known. */
void report_words_frame(const struct report *report, struct site_namer *namer, uint64_t pc, char *out, size_t room);
bool report_words_site(const struct report *report, struct site_namer *namer, uint32_t stack, char *out, size_t room);
/* Why a finding is told in one line with others. */
extern const char *const fold_words[FOLDS];
extern const char *const edge_kind_words[EDGE_KINDS]; /* what is behind what */
/* "1 203x", of calls; empty where it is no call that was found */
struct small_text report_words_times(uint64_t calls);
void report_words_id(const struct report *report, enum finding_set set, uint32_t id, char *out, size_t room);
/* A thread as a row of a timeline is named: its name and number; of a thread that nobody named, the program's ("overlap
 * 3"). */
void report_words_thread(const struct report *report, uint32_t uid, char *out, size_t room);
const char *report_words_api(const struct report *report, const struct finding *finding);
const char *report_words_access(enum access access); /* "reads", "writes", "uses" */
/* One operation of a pair: "kernel writes", of ACCESS_NONE "kernel"; its name has at most so many columns. */
#define ACCESS_NONE ((enum access)0)
struct line report_words_accessor(const struct report *report, const struct edge_end *end, enum access access, int columns);
/* Whether the pair's memory has an address that the program knows: arrays, and memory that a kernel reaches without naming
 * it, have numbers of the engine's own, which tell nobody anything. And what to call it: "0x7f0000", else "memory #10". */
bool report_words_has_address(const struct edge_pair *pair);
struct line report_words_memory(const struct edge_pair *pair);
const char *report_words_policy(const struct report *report);

/* Whether the run guessed by their names what kernels touch whose code could not be read; and what the opening says of it
 * behind the policy: nothing, or ", names trusted". */
bool report_words_names_trusted(const struct report *report);
const char *report_words_trust(const struct report *report);
enum { STREAM_KINDS = PTDS_STREAM_SHIM_NON_BLOCKING + 1 };
extern const char *const report_stream_kinds[STREAM_KINDS];
const char *report_words_stream_kind(uint32_t kind);                   /* a key, of any number that a trace has */
const char *report_words_stream_name(uint32_t kind);                   /* the same for people: "for moved work" */
struct small_text report_words_host_time(const struct report *report); /* lost in all; "unknown", "none" */
/* What is said beside host time: "GPU time is not recorded", or "not counted". And of how many operations it is recorded.
 */
const char *report_words_gpu_time(const struct report_totals *totals);
/* "GPU busy 97 % of 89.0 ms", "GPU busy at least 12 % of ..." where times of some operations are missing; or one of these
 * two. */
struct line report_words_gpu_busy(const struct report_totals *totals);
struct line report_words_gpu_times(const struct report_totals *totals);
struct line
report_words_banner(const struct report *report); /* what changes the whole run, to be said first; empty: nothing */
extern const char *const report_kept_names[KEPT_REASONS];

/* Why an operation is taken to touch everything, enum ptds_opaque, in words. */
const char *report_words_touch_everything(unsigned why);

#ifdef __cplusplus
}
#endif
#endif
