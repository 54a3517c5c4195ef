/* SPDX-License-Identifier: Apache-2.0
 *
 * A report: what a trace holds, what the rules found in it, ranked, and what could not be looked at. Built once, then
 * written as text, as a summary or as JSON; the writers add nothing of their own.
 */
#ifndef PTDS_ANALYSIS_REPORT_REPORT_H
#define PTDS_ANALYSIS_REPORT_REPORT_H

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/findings/sequence.h"
#include "analysis/trace/trace.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/edges/edge_table.h"
#include "analysis/report/floor.h"
#include "analysis/report/report_entries.h"
#include "analysis/report/residual.h"
#include "analysis/report/sums.h"
#include "analysis/report/rank.h"
#include "analysis/rules/registry.h"
#include "analysis/trace/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

enum kept_reason {
    KEPT_UNSAID, /* no reason recorded: the policy remaps nothing, or see half-remapped */
    KEPT_CAPTURE,
    KEPT_REFUSED,
    KEPT_EXCLUDED,
    KEPT_NO_WAY,
    KEPT_EXPLICIT,
    KEPT_DROPPED, /* counted, but its record is not there any more */
    KEPT_REASONS
};

struct report_totals {
    uint64_t calls, failed; /* exact if has_counts, else of the recorded calls */
    uint64_t recorded;      /* calls whose records were looked at */
    uint64_t
        default_stream; /* operations that named the legacy stream; exact if the trace counts them, else recorded ones */
    uint64_t remapped;  /* of them, like the next two */
    uint64_t kept[KEPT_REASONS], kept_all;
    uint64_t failed_default; /* of default_stream: failed, so went nowhere */
    uint64_t opaque;         /* recorded operations that may touch memory the trace does not name */
    /* Recorded operations that are ordered with all others because nobody knows what they touch, by enum ptds_opaque. */
    uint64_t touch_all[PTDS_OPAQUE_REASONS];
    uint64_t gpu_operations;  /* recorded launches, graphs, copies and memsets that ran */
    uint64_t gpu_timed;       /* of them, those whose time on the GPU is in the trace */
    uint64_t gpu_busy_ns;     /* of gpu_span_ns: while at least one of these ran; over all GPUs */
    uint64_t gpu_span_ns;     /* from a GPU's first operation to the end; 0: unknown */
    uint64_t gpu_default_ns;  /* how long those ran that named the default stream, added up */
    uint64_t gpus;            /* that these ran on */
    uint64_t untimed_waits;   /* calls that may have waited and were not timed */
    uint64_t unknown_streams; /* recorded work on streams of unknown kind */
    uint64_t unplaced;        /* calls on streams beyond MODEL_MOST_STREAMS */
    uint64_t unknown_generations;
    uint64_t streams[PTDS_STREAM_SHIM_NON_BLOCKING + 1]; /* by kind */
    uint64_t program_streams;                            /* all but the shim's */
    uint64_t run_ns;                                     /* 0: unknown */
    uint64_t gpu_part_ns; /* of it, from the first GPU work on to the end of the last call; 0:
                           * there was none, or no times */
    uint64_t threads_ns;  /* all threads' time, each from its first call to its last */
    uint64_t blocked_ns;  /* of that, in calls that waited */
    uint64_t host_ns;     /* what all findings cost, as far as known */
    uint64_t costed;      /* calls whose loss is known; 0: host_ns says nothing */
};

/* Findings of one sequence (sequence.h), by their rank. */
struct sequence {
    uint64_t host_ns;
    size_t first; /* the rank of its costliest finding */
    size_t findings;
};

struct report_watch;
struct walker;

struct report {
    struct trace trace;
    struct selection selection;
    uint64_t start;         /* ticks: the first clock reading, or the first call if that came earlier */
    uint64_t selected_last; /* ticks of the last call that the report is about */
    struct rule_run runs[RULES_MOST];
    size_t rules;
    struct report_totals totals;
    TABLE_OF(struct finding *) findings; /* ranked by what they would save; owned by the runs */
    TABLE_OF(struct sequence) sequences; /* of two findings and more; finding->sequence counts from 1 */
    TABLE_OF(struct entry) entries;      /* of the findings that are worth a line */
    struct sums sums;
    struct edge_table edges;
    struct startup startup;
    struct gain gain;
    struct residual residual;     /* by residual_find, which report_build does not call */
    struct default_replay replay; /* by whatif_tell, which report_build does not call */
    struct line what_if; /* what a replay says of policy guarded, for the opening; by the command. Empty: not known */
    bool no_gain;        /* that replay is known, and no faster: remapping alone is not what helps */
    struct floor floor;
    struct sequence_search search;
    uint32_t serials;
    uint64_t refused;  /* findings that were not kept */
    uint64_t left_out; /* recorded calls that there was no time to look at */
    bool has_counts;
    bool out_of_memory;         /* nobody knows what is missing */
    uint64_t refusals;          /* heap_refusals when it began */
    bool made;                  /* else only the trace is read, and all else is empty */
    struct report_watch *watch; /* while report_make runs; may be NULL */
    struct report_watch *walks; /* told how far each walk_calls is; may be NULL */
    /* Sets of rules, a bit for each of `runs`: that want an operation, by enum ptds_op; all of them; a case; all cases now;
     * only what no other rule took; implicit orders. */
    uint64_t wanting[64], wanting_all, by_case[CASES], awake, rest, of_edges;
};

/* Looks on while a report is built. Each may be NULL. */
struct report_watch {
    /* Gets each call that the report is about, after the rules; serial: the finding that the call belongs to (of
     * several the costliest so far), 0 none. */
    void (*call)(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial);
    /* Told of a call that it got: the call waited because of the default stream (gain.h). Some waits are known later. */
    void (*default_wait)(struct report_watch *watch, const struct report *report, uint32_t thread, uint64_t enter);
    /* Called every few calls: whether there is time for more; calls after a "no" are left out. */
    bool (*go_on)(struct report_watch *watch);
    /* Called now and then: calls looked at, of how many; all of them at the end of a walk. */
    void (*progress)(struct report_watch *watch, uint64_t done, uint64_t total);
};

/* Reads the source and runs every rule over it. 0, or -1 with a message in `error` (TRACE_ERROR_SIZE) if the trace cannot
 * be read at all. The source must outlive the report. End with report_end in either case. One thread. */
int report_build(struct report *report, const struct trace_source *source, char *error);
/* The same for a part of the trace, watched. selection and watch may be NULL; -1 also if the trace has no such part. */
int report_build_watched(struct report *report, const struct trace_source *source, const struct selection *selection,
                         struct report_watch *watch, char *error);
/* The same in two steps: report_read takes what the trace says of itself, report_make all calls. walker
 * (walk_calls.h), which may be NULL, sees each call, also those outside of the selection. */
int report_read(struct report *report, const struct trace_source *source, char *error);
int report_make(struct report *report, const struct selection *selection, struct report_watch *watch, struct walker *walker,
                char *error);
/* Releases the report. */
void report_end(struct report *report);

/* How many findings, from the top, hold at least `percent` of all host time lost; 0 if no loss is known. */
size_t report_cover(const struct report *report, unsigned percent);

#ifdef __cplusplus
}
#endif
#endif
