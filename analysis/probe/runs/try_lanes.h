/* SPDX-License-Identifier: Apache-2.0
 *
 * Guarded with more lanes, where that may be faster.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_TRY_LANES_H
#define PTDS_ANALYSIS_PROBE_RUNS_TRY_LANES_H

#include <stddef.h>

#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* After the warm-up: guarded with several numbers of lanes, where the request and the record of observe ask for that. How
 * many variants are new. */
size_t try_lanes(struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
