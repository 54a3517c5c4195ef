/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a run: the caller's own, and what a policy adds.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_ENVIRONMENT_H
#define PTDS_ANALYSIS_PROBE_RUNS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes the environment of this process, which the program then gets. library NULL: without the shim, also where the
 * caller preloads it, or a Python is enabled (scripts/python). trace NULL: no record is made. moments NULL: the begin and
 * end of the CUDA work are not noted; else the folder for them. False without memory. */
bool environment_set(const char *library, const char *policy, const char *trace, const char *moments);

/* Sets LD_AUDIT: the auditor, last; library NULL: no auditor of the shim. auditor NULL: as the caller has it. False
 * without memory. */
bool environment_set_auditor(const char *library, const char *auditor);

/* Sets PTDS_LANES; lanes 0: leaves it as it is. False without memory. */
bool environment_set_lanes(unsigned lanes);

/* Sets PTDS_EXPLICIT_LEGACY=remap; moves false: leaves it as it is. False without memory. */
bool environment_set_explicit(bool moves);

/* Sets PTDS_SHAKE, or takes it away: seed 0. False without memory. */
bool environment_set_seed(unsigned seed);

/* Makes the value of LD_PRELOAD: the libraries that `there` (may be NULL) names, without the shim, and then `library`
 * (may be NULL). The shim comes last, so that other libraries see the calls of the program itself first, as they do
 * without it. False: `room` is too small. */
bool environment_preload(const char *library, const char *there, char *out, size_t room);
/* Makes the value of LD_AUDIT: the auditors that `there` names, without that of the shim, then `auditor`. False:
 * `room` is too small. */
bool environment_audit(const char *auditor, const char *there, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
