/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runs wrote, compared with what the bare runs wrote.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_COMPARE_RUNS_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For the parts of the probe. */
size_t compare_runs_things(const struct probe *probe);

const char *compare_runs_thing_name(const struct probe *probe, size_t thing);

/* Whether --compare is asked about it: about the files that were named, or standard output. */
bool compare_runs_by_command(const struct probe *probe, size_t thing);

void compare_runs(struct probe *probe); /* fills in facts and what is comparable, anew */

void compare_runs_forget(struct probe *probe); /* undoes it */

bool compare_runs_differ(const struct probe *probe); /* a policy's output or ending does */

#ifdef __cplusplus
}
#endif
#endif
