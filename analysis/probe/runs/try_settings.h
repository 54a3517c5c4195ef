/* SPDX-License-Identifier: Apache-2.0
 *
 * Guarded with other settings than the user's, where these may be faster.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_TRY_SETTINGS_H
#define PTDS_ANALYSIS_PROBE_RUNS_TRY_SETTINGS_H

#include <stddef.h>

#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* After the warm-up: guarded with the program's work on 0x1 moved, where the record of observe has such work, and with
 * several numbers of lanes, where the request and that record ask for them. How many variants are new. */
size_t try_settings(struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
