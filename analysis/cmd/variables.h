/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of the environment whose names are nearly those of the shim.
 */
#ifndef PTDS_ANALYSIS_CMD_VARIABLES_H
#define PTDS_ANALYSIS_CMD_VARIABLES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Says, on stderr, which variables have nearly the name of one of the library's: else the run is another than was asked
 * for, and nothing says so. */
void variables_warn(const char *verb);

#ifdef __cplusplus
}
#endif
#endif
