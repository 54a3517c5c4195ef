/* SPDX-License-Identifier: Apache-2.0
 *
 * The child process of `ptds doctor`.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_DOCTOR_PROBE_H
#define PTDS_ANALYSIS_CMD_VERBS_DOCTOR_PROBE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs in the child process: looks at the driver and the doors from inside, and writes what it saw to stdout. Returns
 * its exit status. */
int doctor_probe(bool with_gpus);

#ifdef __cplusplus
}
#endif
#endif
