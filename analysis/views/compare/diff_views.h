/* SPDX-License-Identifier: Apache-2.0
 *
 * How two sets of runs differ, written: for a terminal, for a pull request, for machines.
 */
#ifndef PTDS_ANALYSIS_VIEWS_COMPARE_DIFF_VIEWS_H
#define PTDS_ANALYSIS_VIEWS_COMPARE_DIFF_VIEWS_H

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/base/text.h"
#include "analysis/compare/compare.h"
#include "analysis/views/compare/diff_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the differences. 0; -1 without memory. */
typedef int diff_writer(const struct diff *diff, struct text_sink *sink);
diff_writer diff_text;
diff_writer diff_markdown;
diff_writer diff_json;

#ifdef __cplusplus
}
#endif
#endif
