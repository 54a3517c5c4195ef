/* SPDX-License-Identifier: Apache-2.0
 *
 * Scripts with which shells complete the verbs, options and arguments of the command.
 */
#ifndef PTDS_ANALYSIS_CMD_HELP_SHELL_COMPLETION_H
#define PTDS_ANALYSIS_CMD_HELP_SHELL_COMPLETION_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

void shell_completion_bash(FILE *out);
void shell_completion_zsh(FILE *out);
void shell_completion_fish(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
