/* SPDX-License-Identifier: Apache-2.0
 *
 * What-if as text: what each policy would gain.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_WHATIF_TEXT_H
#define PTDS_ANALYSIS_VIEWS_TEXT_WHATIF_TEXT_H

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/base/text.h"
#include "analysis/whatif/whatif.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "2.3x to 2.7x faster", "no faster". */
struct line whatif_text_gain(const struct whatif *whatif, const struct prediction *prediction);
/* For the first screen: what `guarded` would gain. Empty where that is not known, or a guess. */
struct line whatif_text_line(const struct whatif *whatif);
/* Sets report->what_if and no_gain by the report's trace, which is read once more for it: where it would be no guess. */
void whatif_text_opening(struct report *report);
/* A line of what was replayed, or why nothing is predicted; then a line a policy. */
void whatif_text(const struct whatif *whatif, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
