/* SPDX-License-Identifier: Apache-2.0
 *
 * How long operations ran on their device, and what comes before and after. For whatif.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_DURATIONS_H
#define PTDS_ANALYSIS_WHATIF_DURATIONS_H

#include "analysis/whatif/replay.h"

/* Of operations without a time: a share of the wait that ended with them. None where nobody waited for them long. */
void durations_share(struct recorded *recorded);

/* What the recording shows; 0 where it does not. Before durations_share. */
struct latencies durations_latencies(const struct recorded *recorded);

#endif
