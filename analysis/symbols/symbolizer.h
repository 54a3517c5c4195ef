/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for code addresses, read when the report is written: functions, inlined ones included, files and lines from the
 * objects and their separate debug files; functions of just-in-time compilers from perf map files.
 */
#ifndef PTDS_ANALYSIS_SYMBOLS_SYMBOLIZER_H
#define PTDS_ANALYSIS_SYMBOLS_SYMBOLIZER_H

#include "analysis/trace/trace.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL without memory. Free with symbolizer_end. One thread. Every object is opened once. */
struct site_namer *symbolizer_begin(void);
void symbolizer_end(struct site_namer *namer);

/* From here on addresses outside of all objects belong to the process of this trace. namer may be NULL. */
void symbolizer_of(struct site_namer *namer, const struct trace *trace);

#ifdef __cplusplus
}
#endif
#endif
