/* SPDX-License-Identifier: Apache-2.0
 *
 * The temporary file that a verb writes, one a process.
 */
#ifndef PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_TEMPORARY_H
#define PTDS_ANALYSIS_CMD_OUTPUT_OUTPUT_TEMPORARY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a new empty file in the folder of `path`; its name goes into `name` (PATH_MAX + 16 bytes). It is removed when
 * the process ends, by exit or by a signal that asks it to, unless output_temporary_forget was called. The descriptor;
 * -1 with errno. */
int output_temporary_make(char *name, const char *path);

/* The same in the folder for temporary files. */
int output_temporary_make_elsewhere(char *name);

void output_temporary_forget(void);

void output_temporary_remove(void);

#ifdef __cplusplus
}
#endif
#endif
