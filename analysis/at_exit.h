/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's way in: at exit, its own chunks become the summary on stderr or the full text report in a file.
 */
#ifndef PTDS_ANALYSIS_AT_EXIT_H
#define PTDS_ANALYSIS_AT_EXIT_H

#include "analysis/base/sink.h"
#include "analysis/trace/trace_source.h"
#include "analysis/base/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both read the source (trace_source_memory, or a mapped trace file), write to the sink on the calling thread, allocate
 * with malloc and free it all again. They never exit, abort, print elsewhere or touch CUDA. Other threads may go on
 * appending to the chunks meanwhile. 0, or -1 if the trace could not be read at all; then one line that says why goes to
 * the sink. budget_ns: how long to look at calls; those that there is no time for are left out, which is said. 0: a tenth
 * of the run, but at least 100 ms and at most a second. */
int at_exit_summary(const struct trace_source *source, uint64_t budget_ns, struct text_sink *sink); /* at most 15 lines */
int at_exit_full_report(const struct trace_source *source, uint64_t budget_ns, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
