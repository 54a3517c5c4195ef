/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard input, of which every run gets the same.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_STANDARD_INPUT_H
#define PTDS_ANALYSIS_PROBE_RUNS_STANDARD_INPUT_H

#include "analysis/probe/runs/folder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The file that the runs read: a copy of what is left of this process's standard input, or /dev/null where that is a
 * terminal, closed or a device. Reads a pipe to its end; `waiting` is called once where that takes more than a second.
 * False: errno says why; of EINTR: a signal came. */
bool standard_input_take(const struct folder *folder, void (*waiting)(void), struct path *out);

#ifdef __cplusplus
}
#endif
#endif
