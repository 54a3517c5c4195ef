/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that threads were in when the trace ended (or are in, if it is read while its process runs).
 */
#ifndef PTDS_ANALYSIS_TRACE_IN_FLIGHT_H
#define PTDS_ANALYSIS_TRACE_IN_FLIGHT_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes each call in flight to `each`, with the uid of its thread. Only timed calls are in the trace before they
 * return. */
typedef void (*in_flight_fn)(void *data, uint32_t thread, const struct ptds_now *now);
void in_flight_each(const struct trace *trace, in_flight_fn each, void *data);

/* The call as its record would be, with the time of entry as the time of return. It refers to `now`. A query is taken
 * to have found its work not done. */
struct call in_flight_call(uint32_t thread, const struct ptds_now *now);

#ifdef __cplusplus
}
#endif
#endif
