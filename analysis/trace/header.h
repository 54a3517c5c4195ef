/* SPDX-License-Identifier: Apache-2.0
 *
 * For the reader: what a trace says of itself as a whole.
 */
#ifndef PTDS_ANALYSIS_TRACE_HEADER_H
#define PTDS_ANALYSIS_TRACE_HEADER_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the header out of the trace's source, texts cleaned. false with a message in `error` (TRACE_ERROR_SIZE): nothing
 * can be read. */
bool header_read(struct trace *trace, char *error);

/* Whether the process ran on the machine, or in the container, that this is. */
bool header_is_of_this_host(const struct ptds_trace_header *header);

#ifdef __cplusplus
}
#endif
#endif
