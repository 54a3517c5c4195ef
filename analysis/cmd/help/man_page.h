/* SPDX-License-Identifier: Apache-2.0
 *
 * The man page of the command.
 */
#ifndef PTDS_ANALYSIS_CMD_HELP_MAN_PAGE_H
#define PTDS_ANALYSIS_CMD_HELP_MAN_PAGE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The man page, and a completion script. */
void man_page_write(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
