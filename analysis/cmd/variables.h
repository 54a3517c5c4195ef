/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of the environment whose names are nearly those of the shim.
 */
#ifndef PTDS_ANALYSIS_CMD_VARIABLES_H
#define PTDS_ANALYSIS_CMD_VARIABLES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Warns on stderr of variables whose names are nearly those of the shim: the run would be another than was asked for,
 * in silence. */
void variables_warn(const char *verb);

#ifdef __cplusplus
}
#endif
#endif
