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

/* Bare, none and observe are there from the start; add guarded as the first policy. False: there is no room, or the
 * policy is there already (it then counts as asked for). */
void rounds_begin(struct probe *probe);

bool rounds_add_policy(struct probe *probe, const char *policy, bool asked);

/* Runs all rounds and compares them; where output or endings differ, runs bare some more times, to learn whether it
 * varies by itself. False with a message in `error` (PROBE_ERROR_SIZE): something other than the program failed. */
bool rounds_run(struct probe *probe, char *error);

void rounds_end(struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
