/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_LOG: a line for each hazard that can be told on the spot. A call site is shown a few times, then counted.
 */
#ifndef PTDS_LOG_H
#define PTDS_LOG_H

#include "interpose/state/call.h"

extern int log_file; /* -1: off */

static inline int log_on(void)
{
    return log_file >= 0;
}

void log_start(void);

/* Before a call that may block: says that the thread goes in, so that a hang has a last line. */
void log_entering(struct call *C);

/* After a recorded call; ticks 0 where it was not timed. */
void log_call(const struct call *C, uint64_t ticks, uint32_t stack);

/* A kernel's name, for lines that mention it. */
void log_kernel(uint32_t uid, const char *name);

/* The lines that were counted instead of shown. */
void log_finish(void);

void log_after_fork(void);

#endif
