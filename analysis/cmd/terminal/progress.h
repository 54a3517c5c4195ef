/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of progress on stderr, where that is a terminal.
 */
#ifndef PTDS_ANALYSIS_CMD_TERMINAL_PROGRESS_H
#define PTDS_ANALYSIS_CMD_TERMINAL_PROGRESS_H

#include <stdbool.h>

#include "analysis/trace/trace_source.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
