/* SPDX-License-Identifier: Apache-2.0
 *
 * The host waits for what it was promised to be done (owed.c). Only for the guard's own files.
 */
#ifndef PTDS_SETTLE_H
#define PTDS_SETTLE_H

#include "interpose/guard/events.h"
#include "interpose/state/call.h"

/* Locked, and gives the lock up: the host waits for what order_owe_* have noted. Outside of any turn of the call's. */
void settle(struct call *C);

/* Locked: the host was promised all that the newest record of the event stands for, and it is not known to be done. */
int settle_is_owed(const struct guard_event *event);

/* The host asks about the event: it waits for it where that is so. */
void settle_event(struct call *C, CUevent event);

#endif
