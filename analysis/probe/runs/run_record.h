/* SPDX-License-Identifier: Apache-2.0
 *
 * What the record of a run says that the answer needs: what it is made of, what the default stream costs, whether its
 * results are right. Read by the report engine.
 */
#ifndef PTDS_ANALYSIS_PROBE_RUNS_RUN_RECORD_H
#define PTDS_ANALYSIS_PROBE_RUNS_RUN_RECORD_H

#include "analysis/base/line.h"
#include "analysis/report/rank.h"
#include "analysis/base/text.h"
#include "analysis/report/default_cost.h"
#include "analysis/whatif/whatif.h"

#ifdef __cplusplus
extern "C" {
#endif

struct record {
    size_t processes; /* that made CUDA calls; 0: there is no record. The rest is of the one where the default stream
                         matters most */
    char program[64];
    uint64_t threads, streams, calls, default_stream, remapped, run_ns;
    uint64_t explicit_legacy; /* operations of all processes that named CU_STREAM_LEGACY (0x1) and stayed there */
    enum default_cost cost;
    uint64_t gpu_busy_ns, gpu_span_ns; /* as in report_totals; no span: unknown */
    bool gpu_busy_at_least;            /* times of some operations are missing */
    uint64_t most_ns;                  /* DEFAULT_UP_TO: of the run, at most */
    bool incomplete;
    enum doubt doubt;                   /* the gravest of all processes */
    struct line outcome, first, second; /* its words, and the two operations that show it; empty: none can be named */
    struct line default_words, blocked;
    bool replayed; /* `whatif` says something, and of recorded times on the GPU, not of guesses */
    struct whatif whatif;
    struct line trouble; /* why a trace could not be read; empty: all could */
};

/* From the traces in a folder; none is no trouble. replay: look for what policies would gain, too. */
void run_record_read(struct record *record, const char *folder, bool replay);

#ifdef __cplusplus
}
#endif
#endif
