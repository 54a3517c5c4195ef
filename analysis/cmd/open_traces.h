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

/* Opens what a verb was given; troubles go to stderr under the verb's name, which must stay alive. False without memory.
 * traces_free in either case. progress: a line of it, on a terminal. */
bool open_traces(struct traces *traces, char *verb, char **paths, int count, bool progress);

/* The same; `also` sees each call while they are read. */
bool open_traces_watched(struct traces *traces, char *verb, char **paths, int count, bool progress,
                         struct report_watch *also);

/* The same, but the traces are only read: traced_make is still to come. */
bool open_traces_unmade(struct traces *traces, char *verb, char **paths, int count, bool progress);

/* Says damage in a trace's body, on stderr: open_traces has done it for its own. A verb that shows what is left of such a
 * trace ends with EXIT_UNREADABLE. */
void open_traces_say_damage(const char *verb, const struct trace *trace);

bool open_traces_any_damage(const struct traces *traces);

/* Whether these are to be reported as several: more than one, or a folder. */
bool open_traces_are_many(char **paths, int count);

#ifdef __cplusplus
}
#endif
#endif
