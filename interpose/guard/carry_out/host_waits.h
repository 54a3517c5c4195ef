/* SPDX-License-Identifier: Apache-2.0
 *
 * The host waits for a stream or an event of the guard's, or asks about it, also while a capture is open. Only for the
 * guard's own files; called without its lock. Each returns the driver's answer.
 */
#ifndef PTDS_HOST_WAITS_H
#define PTDS_HOST_WAITS_H

#include "interpose/state/call.h"

CUresult host_waits_for_stream(CUstream stream);
CUresult host_waits_for_event(CUevent event);

/* The same where the program's own call waits, too: what that does to a capture which begins meanwhile is the program's. */
CUresult host_waits_for_stream_as_program(CUstream stream);

/* 1: the stream, or where `event` is not NULL the event, is done. Not while a capture is open; one may begin meanwhile. */
int host_waits_is_done(CUstream stream, CUevent event);

/* Waits for all work of the context that has a lane, while a capture is open: a wait for the context would end the capture.
 * 0: some of it could not be waited for. */
int host_waits_in_capture(const struct context *context);

#endif
