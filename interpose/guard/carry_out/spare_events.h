/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that the guard keeps ready in each context. Only for the guard's own files.
 */
#ifndef PTDS_SPARE_EVENTS_H
#define PTDS_SPARE_EVENTS_H

#include "interpose/state/call.h"

/* Makes the first ones; the context is current. */
void spare_events_make(struct context *context);

/* An event of the context, without timing; the caller gives it back. NULL: the driver refuses, or the context is gone. */
CUevent spare_events_take(struct context *context);
void spare_events_give_back(struct context *context, CUevent event);

#endif
