/* SPDX-License-Identifier: Apache-2.0
 *
 * The pager of long text, and the height of the terminal.
 */
#ifndef PTDS_ANALYSIS_CMD_TERMINAL_PAGER_H
#define PTDS_ANALYSIS_CMD_TERMINAL_PAGER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sends stdout through $PAGER, or less if there is one. False: there is none to be had, stdout is as it was. */
bool pager_begin(void);

/* Waits for the pager. False with a message on stderr if it could not be run. Fine without pager_begin. */
bool pager_end(void);

unsigned pager_terminal_rows(void); /* of stdout; 0 unknown */

#ifdef __cplusplus
}
#endif
#endif
