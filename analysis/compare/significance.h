/* SPDX-License-Identifier: Apache-2.0
 *
 * Which changes are sure. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_SIGNIFICANCE_H
#define PTDS_ANALYSIS_COMPARE_SIGNIFICANCE_H

#include "analysis/compare/compare.h"

/* Whether counts that differ by so many are a change: by that share, and by one more than a second try. */
bool significance_is_beyond(const struct comparison *comparison, double difference, double share);
/* Tells of all changes whether they are sure, and counts them. */
void significance_decide(struct comparison *comparison);

#endif
