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

/* Sends stdout through $PAGER, or less if that is installed. False: there is no pager, and stdout is as it was. */
bool pager_begin(void);

/* Waits for the pager. True also without pager_begin. False with a message on stderr: the pager could not be run. */
bool pager_end(void);

unsigned pager_terminal_rows(void); /* rows of the terminal that stdout is; 0: unknown */

#ifdef __cplusplus
}
#endif
#endif
