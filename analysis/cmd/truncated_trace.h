/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that another process cuts short while a verb reads it.
 */
#ifndef PTDS_ANALYSIS_CMD_TRUNCATED_TRACE_H
#define PTDS_ANALYSIS_CMD_TRUNCATED_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on a trace that is cut while the verb reads it ends the command, with a line on stderr. */
void truncated_trace_listen(const char *verb);

#ifdef __cplusplus
}
#endif
#endif
