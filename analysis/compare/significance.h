/* SPDX-License-Identifier: Apache-2.0
 *
 * Which changes are sure. For compare.c.
 */
#ifndef PTDS_ANALYSIS_COMPARE_SIGNIFICANCE_H
#define PTDS_ANALYSIS_COMPARE_SIGNIFICANCE_H

#include "analysis/compare/compare.h"

/* Whether counts that differ by `difference` are a change: by more than `share` of them, and by more than one call,
 * which a second try may add. */
bool significance_is_beyond(const struct comparison *comparison, double difference, double share);
/* Decides for all changes whether they are sure, and counts them. */
void significance_decide(struct comparison *comparison);

#endif
