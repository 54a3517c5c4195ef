/* SPDX-License-Identifier: Apache-2.0
 *
 * How long operations ran on their device, and what comes before and after. For whatif.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_DURATIONS_H
#define PTDS_ANALYSIS_WHATIF_DURATIONS_H

#include "analysis/whatif/replay.h"

/* Gives each operation without a time a share of the wait that ended with it; none where no thread waited for it for
 * long. */
void durations_share(struct recorded *recorded);

/* The latencies that the recording shows; 0 where it shows none. Before durations_share. */
struct latencies durations_latencies(const struct recorded *recorded);

#endif
