/* SPDX-License-Identifier: Apache-2.0
 *
 * The exit statuses of the command `ptds`.
 */
#ifndef PTDS_ANALYSIS_CMD_EXIT_STATUS_H
#define PTDS_ANALYSIS_CMD_EXIT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum ptds_exit {
    EXIT_CLEAN = 0,
    EXIT_FINDINGS = 1, /* or a failed check */
    EXIT_USAGE = 2,
    EXIT_UNREADABLE = 3,
    EXIT_NOT_EXECUTABLE = 126, /* as shells do */
    EXIT_NOT_FOUND = 127,
};

#ifdef __cplusplus
}
#endif
#endif
