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

/* Changes this process's environment, which the program then gets. library NULL: bare, so without the shim even where the
 * caller preloads it. trace NULL: nothing is recorded. moments NULL: nobody wants to know when CUDA work began and ended;
 * else the folder for it. False without memory. */
bool environment_set(const char *library, const char *policy, const char *trace, const char *moments);

/* LD_AUDIT: the auditor, last; without the shim none of its own. auditor NULL: as the caller has it. */
bool environment_set_auditor(const char *library, const char *auditor);

/* PTDS_LANES; 0 leaves it as it is. */
bool environment_set_lanes(unsigned lanes);

/* The value of LD_PRELOAD: what `there` (may be NULL) names, but no shim, and then `library` (may be NULL): other libraries
 * see the program's own calls first, as without it. False: no room. */
bool environment_preload(const char *library, const char *there, char *out, size_t room);
/* The value of LD_AUDIT, likewise: what else `there` names, but no auditor of the shim's, then `auditor`. */
bool environment_audit(const char *auditor, const char *there, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
