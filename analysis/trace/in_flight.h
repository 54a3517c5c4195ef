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

/* Passes each to `each`, with the uid of its thread. Only timed calls are in the trace before they return. */
typedef void (*in_flight_fn)(void *data, uint32_t thread, const struct ptds_now *now);
void in_flight_each(const struct trace *trace, in_flight_fn each, void *data);

/* The call as its record would be, but for the time, which is the entry's. It refers to `now`. A query has not been told
 * that its work is done, and waits for none. */
struct call in_flight_call(uint32_t thread, const struct ptds_now *now);

#ifdef __cplusplus
}
#endif
#endif
