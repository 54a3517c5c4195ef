/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the traces that a verb was given.
 */
#ifndef PTDS_ANALYSIS_CMD_OPEN_TRACES_H
#define PTDS_ANALYSIS_CMD_OPEN_TRACES_H

#include <stdbool.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/report/many/traces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the traces at the paths, and makes their reports; troubles go to stderr under the name of the verb, which must
 * stay alive. progress: a line of progress, on a terminal. False without memory. traces_free in either case. */
bool open_traces(struct traces *traces, char *verb, char **paths, int count, bool progress);

/* The same; `also` sees each call while the reports are made. */
bool open_traces_watched(struct traces *traces, char *verb, char **paths, int count, bool progress,
                         struct report_watch *also);

/* The same, but only reads the traces: traced_make is still to come. */
bool open_traces_unmade(struct traces *traces, char *verb, char **paths, int count, bool progress);

/* Neither damaged nor cut. */
bool open_traces_is_whole(const struct trace *trace);

/* Says on stderr where the trace is damaged, or that it was cut; open_traces has done so for its own traces. A verb that
 * shows the rest of such a trace ends with EXIT_UNREADABLE. */
void open_traces_say_damage(const char *verb, const struct trace *trace);

/* Whether one of them is not whole. */
bool open_traces_any_damage(const struct traces *traces);

/* Whether the paths are reported as several traces: more than one path, or a folder. */
bool open_traces_are_many(char **paths, int count);

#ifdef __cplusplus
}
#endif
#endif
