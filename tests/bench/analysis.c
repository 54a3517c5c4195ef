/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast a trace becomes a report, and in how much memory: analysis [RECORDS] [STAGE] [WORKLOAD|TRACE...]. Run by
 * scripts/bench analysis. Seconds are the process's own CPU time.
 * STAGE (or all): source (making the trace), read (first pass), merge, model, verdicts (model and
 * verdicts), report (all, rules too). WORKLOAD: program (made_up_program.c), worst (made_up_worst.c) or, only if it is
 * named, crowd (made_up_crowd.c), which are made up while they are read (made_up.h), so any length fits. A TRACE, a file,
 * is read again and again until RECORDS have passed: the median of five such turns. How much of it is the start-up of a
 * report, which depends on no record, the length of the trace decides; `records` says it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/report/report.h"
#include "analysis/order/verdict.h"
#include "analysis/trace/merge.h"
#include "tests/bench/made_up.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t settled[VERDICTS];

static void count_edge(struct edge_sink *sink, const struct edge *edge)
{
    (void)sink;
    settled[edge->verdict]++;
}

enum stage { SOURCE, READ, MERGE, MODEL, JUDGE, REPORT, STAGES };
static const char *const stages[STAGES] = {"source", "read", "merge", "model", "verdicts", "report"};

static uint64_t run_calls(const struct trace *trace, enum stage stage)
{
    struct edge_sink sink = {.edge = count_edge};
    struct verdicts *engine;
    struct model model;
    struct merge merge;
    uint64_t calls = 0;
    const struct call *next;
    model_begin(&model, trace);
    engine = stage >= JUDGE ? verdicts_begin(&model, &sink) : NULL;
    if (merge_begin(&merge, trace) != 0)
        abort();
    while ((next = merge_next(&merge)) != NULL) {
        struct call_view view;
        calls++;
        if (stage < MODEL || !model_enter(&model, next, &view))
            continue;
        if (engine != NULL)
            verdicts_take(engine, &view, merge_in_gap(&merge));
        model_leave(&model, &view);
    }
    verdicts_end(engine, NULL);
    merge_end(&merge);
    model_end(&model);
    return calls;
}

static uint64_t run(const struct trace_source *source, enum stage stage)
{
    static struct report report;
    static struct trace trace;
    char error[TRACE_ERROR_SIZE];
    uint64_t calls = 0;
    size_t readable;
    if (stage == SOURCE) {
        for (uint64_t i = 0; i < source->chunks; i++)
            calls += source->chunk(source, i, &readable) != NULL ? made_up_calls(i) : 0;
        return calls;
    }
    if (stage == REPORT) {
        if (report_build(&report, source, error) != 0)
            abort();
        for (unsigned i = 0; i < VERDICTS; i++)
            settled[i] = edge_table_count(&report.edges, (enum verdict)i);
        calls = report.totals.recorded;
        report_end(&report);
        return calls;
    }
    if (trace_read(&trace, source, error) != 0) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    calls = stage == READ ? trace.calls : run_calls(&trace, stage);
    trace_close(&trace);
    return calls;
}

static void measure(const struct trace_source *source, enum stage stage)
{
    struct rusage usage;
    double began = seconds();
    uint64_t calls = run(source, stage);
    double took = seconds() - began;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-10s %-10s %12llu records %8.2f s %8.2f million records/s %8.1f MiB peak\n", source->name, stages[stage],
           (unsigned long long)calls, took, (double)calls / took / 1e6, (double)usage.ru_maxrss / 1024);
}

static void run_workload(const struct workload *workload, uint64_t records, const char *only)
{
    struct trace_source source = made_up_begin(workload, records);
    for (unsigned stage = 0; stage < STAGES; stage++)
        if (only == NULL || strcmp(only, stages[stage]) == 0)
            measure(&source, (enum stage)stage);
    printf("%-10s edges: %llu not needed, %llu needed, %llu maybe needed\n", workload->name, (unsigned long long)settled[0],
           (unsigned long long)settled[1], (unsigned long long)settled[2]);
}

/* A process for each, so that the peak is its own. */
static bool run_alone(const struct workload *workload, uint64_t records, const char *only)
{
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run_workload(workload, records, only);
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

enum { TURNS = 5 };

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

/* Million records a second of the turn in the middle. */
static double rate_of(const struct trace_source *source, enum stage stage, uint64_t records)
{
    double rates[TURNS];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint64_t passed = 0;
        double began = seconds();
        while (passed < records)
            passed += run(source, stage);
        rates[turn] = (double)passed / (seconds() - began) / 1e6;
    }
    qsort(rates, TURNS, sizeof *rates, by_size);
    return rates[TURNS / 2];
}

/* One line a trace. */
static bool run_trace(const char *path, uint64_t records, const char *only)
{
    struct trace_source source;
    char error[TRACE_ERROR_SIZE];
    if (trace_source_open(&source, path, error) != 0) {
        fprintf(stderr, "%s\n", error);
        return false;
    }
    uint64_t calls = run(&source, READ);
    printf("%-40s %10llu records", strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, (unsigned long long)calls);
    for (unsigned stage = READ; stage < STAGES && calls != 0; stage++)
        if (only == NULL || strcmp(only, stages[stage]) == 0)
            printf(" %10.2f", rate_of(&source, (enum stage)stage, records));
    printf("\n");
    trace_source_close(&source);
    return true;
}

static bool run_traces(char **paths, int count, uint64_t records, const char *only)
{
    bool good = true;
    printf("%-40s %18s", "million records a second of CPU time", "");
    for (unsigned stage = READ; stage < STAGES; stage++)
        if (only == NULL || strcmp(only, stages[stage]) == 0)
            printf(" %10s", stages[stage]);
    printf("\n");
    for (int i = 0; i < count; i++) {
        good &= run_trace(paths[i], records, only);
        fflush(stdout);
    }
    return good;
}

int main(int argc, char **argv)
{
    static const struct workload *const workloads[] = {&program_workload, &worst_workload, &crowd_workload};
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    const char *stage = argc > 2 && strcmp(argv[2], "all") != 0 ? argv[2] : NULL;
    bool good = true, known = argc < 4;
    for (unsigned i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
        if (argc < 4 ? workloads[i] != &crowd_workload : strncmp(argv[3], workloads[i]->name, strlen(argv[3])) == 0) {
            good &= run_alone(workloads[i], records, stage);
            known = true;
        }
    return known ? !good : !run_traces(argv + 3, argc - 3, records, stage);
}
