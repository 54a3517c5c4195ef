/* SPDX-License-Identifier: Apache-2.0
 *
 * Which changes are sure. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_SURE_H
#define PTDS_ANALYSIS_COMPARE_SURE_H

#include "analysis/compare/compare.h"

/* The least number of calls that counts: one more in one run may be a second try. */
double comparison_least_calls(const struct comparison *comparison);
/* Tells of all changes whether they are sure, and counts them. */
void comparison_settle(struct comparison *comparison);

#endif
