/* SPDX-License-Identifier: Apache-2.0
 *
 * What contexts.c and streams.c want of each other.
 */
#ifndef PTDS_STREAMS_H
#define PTDS_STREAMS_H

#include "interpose/state/objects.h"

/* Where no context is current. */
extern struct context objects_no_context;

/* Streams go with their context, also where nobody destroyed them. */
void streams_go_with(const struct context *context);

void streams_after_fork(void);

#endif
