/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lane carries which stream. Only for the guard's own files. Each function requires the guard's lock;
 * lane_streams_open and lane_streams_lane_of may give it up meanwhile and take it again.
 */
#ifndef PTDS_LANE_STREAMS_H
#define PTDS_LANE_STREAMS_H

#include "interpose/guard/decide/order.h"
#include "interpose/state/call.h"

/* Opens a lane for the stream. Where all lanes are taken it looks for one whose work is done, and if there is none the host
 * waits for one. `eager`: as in order_lane_open. -1: none. */
int lane_streams_open(enum lane_kind kind, struct context *context, CUstream handle, uint32_t uid, int eager);

/* The lane of a stream that the program made, opened where it has none; -1: there is none. The second does not open one. */
int lane_streams_lane_of(struct stream *stream, struct context *context);
int lane_streams_has(const struct stream *stream);

/* Closes a lane that has no work. */
void lane_streams_close_unmarked(unsigned lane);

#endif
