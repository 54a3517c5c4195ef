/* SPDX-License-Identifier: Apache-2.0
 *
 * What a check found, written: for a terminal, for a pull request, for a CI's own display of tests, for machines.
 */
#ifndef PTDS_ANALYSIS_VIEWS_CHECK_CHECK_VIEWS_H
#define PTDS_ANALYSIS_VIEWS_CHECK_CHECK_VIEWS_H

#include "analysis/base/sink.h"
#include "analysis/check/results.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the results. 0; -1 without memory. */
typedef int check_writer(const struct check_results *results, struct text_sink *sink);

check_writer check_text;     /* a line an item, and a last line with the counts */
check_writer check_markdown; /* begins with the answer */
check_writer check_junit;    /* a test a rule that was looked for, and one an item */
check_writer check_json;

#ifdef __cplusplus
}
#endif
#endif
