/* SPDX-License-Identifier: Apache-2.0
 *
 * The text reports: all that a report holds, parts of it, and the summary. Also written by the shim at exit: libc only.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_REPORT_TEXT_H
#define PTDS_ANALYSIS_VIEWS_TEXT_REPORT_TEXT_H

#include "analysis/base/sink.h"
#include "analysis/report/report.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything there is to say, for people. namer may be NULL. */
void report_text(const struct report *report, struct site_namer *namer, struct text_sink *sink);

/* The implicit orders that end at the finding's call, and what has to be known of them beside its advice. */
void report_text_orders(const struct report *report, const struct finding *finding, struct text_sink *sink);

/* One finding, by rank from 0, with its call site, its advice and all its values. */
void report_text_finding(const struct report *report, struct site_namer *namer, size_t rank, struct text_sink *sink);

/* The call site of a finding, `most` frames of it. */
void report_text_stack(const struct report *report, struct site_namer *namer, const struct finding *finding, unsigned most,
                       struct text_sink *sink);

/* What could not be analysed, damage with its offsets included. */
void report_text_gaps(const struct report *report, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
