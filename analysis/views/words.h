/* SPDX-License-Identifier: Apache-2.0
 *
 * What all writers of reports say alike: names of places and ids, verdicts, sums, gaps. Decides nothing.
 */
#ifndef PTDS_ANALYSIS_VIEWS_WORDS_H
#define PTDS_ANALYSIS_VIEWS_WORDS_H

#include "analysis/report/report.h"
#include "analysis/symbols/namer.h"
#include "analysis/base/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame of a stack as "libfoo.so+0x41a0 symbol"; a stack's first frame outside the CUDA runtime's and
 * driver's own objects; ids as names. All write terminated text. */
void report_frame(const struct report *report, struct site_namer *namer, uint64_t pc, char *out, size_t room);
bool report_site(const struct report *report, struct site_namer *namer, uint32_t stack, char *out, size_t room);
/* Why a finding is told in one line with others. */
extern const char *const fold_words[FOLDS];
/* For people, and for machines: "maybe needed", "maybe_needed". */
extern const char *const verdict_words[VERDICTS];
extern const char *const verdict_keys[VERDICTS];
extern const char *const outcome_words[DOUBTS];       /* "Right", "May be wrong", "WRONG" */
const char *outcome_word(struct outcome outcome);     /* likewise, or that it is of a part of the run */
extern const char *const edge_kind_words[EDGE_KINDS]; /* what is behind what */
/* The verdicts of all implicit edges, and of those that a finding stands for; NULL: not analysed. */
const uint64_t *report_all_verdicts(const struct report *report, uint64_t verdicts[VERDICTS]);
const uint64_t *report_finding_verdicts(const struct report *report, const struct finding *finding);
/* "1 203x", of calls; empty where it is no call that was found */
struct small_text report_times(uint64_t calls);
/* "3 needed, 1 maybe needed, 12 not needed", "none"; NULL: "not analysed" */
struct line report_verdicts(const uint64_t *verdicts);
/* What is said beside the advice, which alone would mislead, where an order at the finding's call site is needed; else
 * NULL. */
const char *report_needed(const struct report *report, const struct finding *finding);
/* What is said beside a verdict of the run: what became of the order, or what the finding is about. */
const char *report_doubt(const struct report *report, const struct finding *finding);
/* Whether this run's policy took an order away that a result needs, and nothing is in its place: what "!!" stands for. */
bool report_is_wrong(const struct finding *finding);
void report_id(const struct report *report, enum finding_set set, uint32_t id, char *out, size_t room);
const char *report_api(const struct report *report, const struct finding *finding);
const char *report_access(enum access access); /* "reads", "writes", "uses" */
/* One operation of a pair: "kernel writes", of ACCESS_NONE "kernel"; its name has at most so many columns. */
#define ACCESS_NONE ((enum access)0)
struct line report_accessor(const struct report *report, const struct edge_end *end, enum access access, int columns);
/* Whether the pair's memory has an address that the program knows: arrays, and memory that a kernel reaches without naming
 * it, have numbers of the engine's own, which tell nobody anything. And what to call it: "0x7f0000", else "memory #10". */
bool report_has_address(const struct edge_pair *pair);
struct line report_memory(const struct edge_pair *pair);
const char *report_policy(const struct report *report);

/* Whether the run guessed by their names what kernels touch whose code could not be read; and what the opening says of it
 * behind the policy: nothing, or ", names trusted". */
bool report_names_trusted(const struct report *report);
const char *report_trust(const struct report *report);
enum { STREAM_KINDS = PTDS_STREAM_SHIM_NON_BLOCKING + 1 };
extern const char *const report_stream_kinds[STREAM_KINDS];
const char *report_stream_kind(uint32_t kind);                   /* of any number that a trace has */
struct small_text report_host_time(const struct report *report); /* lost in all; "unknown", "none" */
/* What is said beside host time: "GPU time is not recorded", or "not counted". And of how many operations it is recorded.
 */
const char *report_gpu_time(const struct report_totals *totals);
/* "GPU busy 97 % of 89.0 ms", "GPU busy at least 12 % of ..." where times of some operations are missing; or one of these
 * two. */
struct line report_gpu_busy(const struct report_totals *totals);
struct line report_gpu_times(const struct report_totals *totals);
struct line report_banner(const struct report *report); /* what changes the whole run, to be said first; empty: nothing */
extern const char *const report_kept_names[KEPT_REASONS];

/* Why an operation is taken to touch everything, enum ptds_opaque, in words. */
const char *report_touch_everything(unsigned why);

/* What could not be analysed, one line a reason. Returns how many lines were passed to `each`. */
unsigned report_gaps(const struct report *report, void (*each)(void *data, const char *line), void *data);
/* What went past the shim, so that nobody knows how much: functions that it does not know, objects that reach the driver
 * otherwise; and who else is in front of the driver. As report_gaps. `each` NULL: how many went past, without the last. */
unsigned report_past(const struct report *report, void (*each)(void *data, const char *line), void *data);

#ifdef __cplusplus
}
#endif
#endif
