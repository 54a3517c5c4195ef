/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verbs do when a person sits at a terminal: a pager, a line of progress, the height of the screen, colours. Each
 * does nothing where its stream is no terminal.
 */
#ifndef PTDS_ANALYSIS_CMD_TERMINAL_H
#define PTDS_ANALYSIS_CMD_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "analysis/report/report.h"

/* Sends stdout through $PAGER, or less if there is one. False: there is none to be had, stdout is as it was. */
bool pager_begin(void);
/* Waits for the pager. False with a message on stderr if it could not be run. Fine without pager_begin. */
bool pager_end(void);

unsigned terminal_rows(void); /* of stdout; 0 unknown */

/* From here on, lines on stdout get colours, unless it is no terminal or NO_COLOR forbids it; colours_off: no more. */
void colours_begin(void);
void colours_off(void);

/* One line on stderr, rewritten, from the second second on. Watches the reading of a source and the pass over its calls. */
struct progress {
    struct trace_source source; /* to read instead of `inner` */
    const struct trace_source *inner;
    const char *name;
    uint64_t began, shown; /* CLOCK_MONOTONIC, ns; shown 0: nothing on the line */
    uint64_t chunks;
    bool on;
};

/* source: NULL where only calls are watched; the name is then the caller's to set. */
void progress_begin(struct progress *progress, const struct trace_source *source, bool on);
void progress_calls(struct progress *progress, uint64_t done, uint64_t total);
void progress_bytes(struct progress *progress, uint64_t written);
void progress_end(struct progress *progress); /* leaves the line empty */

#endif
