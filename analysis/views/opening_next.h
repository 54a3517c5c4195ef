/* SPDX-License-Identifier: Apache-2.0
 *
 * The command to run next, which closes a report.
 */
#ifndef PTDS_ANALYSIS_VIEWS_OPENING_NEXT_H
#define PTDS_ANALYSIS_VIEWS_OPENING_NEXT_H

#include "analysis/base/line.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The command to run next. Never cut: half a command is an error for who copies it. */
struct line opening_next(const struct report *report);

#ifdef __cplusplus
}
#endif
#endif
