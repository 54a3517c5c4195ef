/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the program under every policy, some rounds each in turn.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_ROUNDS_H
#define PTDS_ANALYSIS_PROBE_RUNS_ROUNDS_H

#include <stdbool.h>

#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bare, none and observe are there from the start; guarded is to be the first policy. False: there is no room, or it is
 * there already (then it is asked for). */
void rounds_begin(struct probe *probe);

bool rounds_add_policy(struct probe *probe, const char *policy, bool asked);

/* All rounds, compared; where output or endings differ, bare runs more, to learn whether that varies by itself. False with
 * a message (PROBE_ERROR_SIZE): something else than the program failed. */
bool rounds_run(struct probe *probe, char *error);

void rounds_end(struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
