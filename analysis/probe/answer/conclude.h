/* SPDX-License-Identifier: Apache-2.0
 *
 * What the measured rounds say of each policy.
 */
#ifndef PTDS_ANALYSIS_PROBE_ANSWER_CONCLUDE_H
#define PTDS_ANALYSIS_PROBE_ANSWER_CONCLUDE_H

#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the records of the runs, and fills in evidence and answers. */
void conclude(struct probe *probe);

/* The variant whose answer comes first and is the exit status: of those asked for, the first of the worst. */
const struct variant *conclude_first(const struct probe *probe);

/* The variant to use: guarded where it is right, with another setting where that makes it faster, else the fastest that is
 * right; NULL: none is. */
const struct variant *conclude_best(const struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
