/* SPDX-License-Identifier: Apache-2.0
 *
 * Why call sites name no functions of Python.
 */
#ifndef PTDS_ANALYSIS_VIEWS_PYTHON_WORDS_H
#define PTDS_ANALYSIS_VIEWS_PYTHON_WORDS_H

#include "analysis/base/line.h"
#include "analysis/report/report.h"

/* Empty unless stacks have an interpreter in them whose functions the shim does not read. */
struct line python_words(const struct report *report);

#endif
