/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs of a program did, run by run: how often each function called the driver and how long it waited there, and the
 * findings. Filled from traces (history_of_traces.h) or from a baseline's file (file.h), read by compare.h. The keys are
 * words that survive another build, policy and address (findings/caller.h).
 */
#ifndef PTDS_ANALYSIS_COMPARE_HISTORY_H
#define PTDS_ANALYSIS_COMPARE_HISTORY_H

#include "analysis/base/id_map.h"
#include "analysis/findings/finding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One run of the program: one process, or several at the same time. */
struct run_facts {
    char *program, *policy; /* "+"-separated names; the policy's value, "mixed" */
    uint64_t processes, run_ns, threads_ns, blocked_ns, calls;
    uint64_t gpu_busy_ns, gpu_span_ns, gpu_default_ns; /* as in report_totals, of all processes; if has_gpu */
    char recorded[24];                                 /* "2026-11-22 16:41:04", UTC; empty: not known */
    bool has_time, has_gpu;                            /* has_gpu: of nearly all operations it is known when they ran */
    bool has_gpu_rows;                                 /* ... and how long each kernel did; older baselines lack that */
};

/* In one run. count 0: not in this run. */
struct amount {
    uint64_t count, ns; /* ns: blocked; of a finding, what leaving it out would save; of ROW_GPU, how long it ran there */
    bool has_ns, shown; /* shown: of a finding, worth a line of its own (report/rank.h) */
};

enum row_kind {
    ROW_CALLS,
    ROW_FINDING,
    ROW_GPU /* what ran on the GPU: a kernel, or the copies, memsets or graphs of a driver function */
};

struct row_key {
    enum row_kind kind;
    enum severity severity;                         /* of a finding */
    const char *rule, *api, *kernel, *place, *text; /* never NULL; empty: none, or not known */
};

struct row {
    struct row_key key; /* texts owned */
    char *site;         /* where in the latest run, for people */
    char id[17];        /* a finding's there (identity.h) */
    bool asks;          /* queries: how often a program asks is a matter of time */
    bool unnamed;       /* whose calls' place has no name: `place` is the object's */
    TABLE_OF(struct amount) by_run;
};

struct history {
    TABLE_OF(struct run_facts) runs;
    TABLE_OF(struct row) rows;
    struct id_map by_hash; /* for history_row: the first `hashed` rows */
    size_t hashed;
    bool out_of_memory;
};

/* Begins a run; what is added from here on belongs to it. False without memory, as it says afterwards. */
bool history_begin_run(struct history *history, const struct run_facts *facts);
/* The row of the key, made if it is new; NULL without memory. The history owns it. */
struct row *history_row(struct history *history, const struct row_key *key);
/* The amount of the row in a run that was begun; NULL without memory. */
struct amount *history_amount(struct history *history, struct row *row, size_t run);
/* The amount of the row in a run, which may be later than the last one that the row is in. */
struct amount history_amount_in(const struct row *row, size_t run);
/* Appends the runs of `from`. False without memory. */
bool history_append(struct history *to, const struct history *from);
/* Forgets the earliest runs until at most `most` are left, and rows that are in none of these. */
void history_keep_latest(struct history *history, size_t most);
/* Rows in the order of their keys, so that files and reports do not differ for nothing. */
void history_sort(struct history *history);
/* In a sorted history: the first row that does not come before the key; and the row of the key, NULL if there is none. */
size_t history_seek(const struct history *history, const struct row_key *key);
const struct row *history_find(const struct history *history, const struct row_key *key);
int history_key_order(const struct row_key *one, const struct row_key *two);
void history_row_set_site(struct row *row, const char *site, const char *id);
/* Joins what two rows say that become one: everything but their amounts. */
void history_row_join(struct row *row, const struct row *from);
void history_free(struct history *history);

#ifdef __cplusplus
}
#endif
#endif
