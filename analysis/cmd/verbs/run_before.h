/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds run` looks at before it becomes the program: a run that could not do what was asked for does not begin.
 */
#ifndef PTDS_ANALYSIS_CMD_VERBS_RUN_BEFORE_H
#define PTDS_ANALYSIS_CMD_VERBS_RUN_BEFORE_H

#include <stdbool.h>
#include <stddef.h>

enum { RUN_ERROR_SIZE = 4500 };

/* Whether the library could write the files that the environment names: a trace only where nothing is or an older trace, a
 * report or log over no trace. False with a message in `error`. */
bool run_before_files_may_be(char *error);
/* Whether the variable's value names a file: neither another variable's, nor a word such as "off". */
bool run_before_is_path(const char *variable, const char *value);

/* Whether each variable of the shim has a value that the shim takes. False with a message in `error` (RUN_ERROR_SIZE). */
bool run_before_values_may_be(char *error);

/* Warns on stderr of a program that a library cannot be preloaded into, or that takes the preload away. words: the program
 * and its arguments, NULL at the end. */
void run_before_warn(char **words);

#endif
