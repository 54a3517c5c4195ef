/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of `ptds check` that renews a baseline.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_CHECK_UPDATE_H
#define PTDS_ANALYSIS_CMD_VERBS_CHECK_UPDATE_H

#include "analysis/cmd/verbs/check_look.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the runs to the file of the baseline. The exit status of the verb, with a line on stderr. */
int check_update(struct check *check, const char *name);

#ifdef __cplusplus
}
#endif
#endif
