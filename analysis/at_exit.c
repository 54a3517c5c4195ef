/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's two entries, at its exit: build a report, write it, free it. Must not exit, print elsewhere, or keep a process
 * that is about to end for long.
 */
#include "analysis/at_exit.h"

#include <stdlib.h>
#include <time.h>

#include "analysis/base/sink.h"
#include "analysis/report/residual.h"
#include "analysis/views/text/report_summary.h"
#include "analysis/views/text/report_text.h"

enum { SHARE_OF_RUN = 10 };
static const uint64_t least_ns = 100000000, most_ns = 1000000000, granted_ns = 50000000;

struct deadline {
    struct report_watch watch;
    struct report *report;
    uint64_t budget_ns, began, began_cpu; /* began 0: not yet */
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The run's own time is known once the trace has been read. */
static uint64_t budget_of(const struct report *report)
{
    uint64_t share = report->totals.run_ns / SHARE_OF_RUN;
    return share < least_ns ? least_ns : share > most_ns ? most_ns : share;
}

/* On a machine where others take the processor a little work is granted whatever the clock says: else what is told of a
 * small run would depend on them. */
static bool go_on(struct report_watch *watch)
{
    struct deadline *deadline = (struct deadline *)watch;
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    if (deadline->began == 0) {
        deadline->began = now;
        deadline->began_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
        if (deadline->budget_ns == 0)
            deadline->budget_ns = budget_of(deadline->report);
    }
    uint64_t granted = deadline->budget_ns / 2 < granted_ns ? deadline->budget_ns / 2 : granted_ns;
    return now - deadline->began < deadline->budget_ns || now_ns(CLOCK_THREAD_CPUTIME_ID) - deadline->began_cpu < granted;
}

/* What threads waited for takes about as long to find as the report. */
static bool has_half_left(const struct deadline *deadline)
{
    struct deadline half = *deadline;
    half.budget_ns /= 2;
    return deadline->began == 0 || go_on(&half.watch);
}

static int write_report(const struct trace_source *source, uint64_t budget_ns, struct text_sink *sink,
                        void (*writer)(const struct report *, struct site_namer *, struct text_sink *))
{
    char error[TRACE_ERROR_SIZE];
    struct report *report = malloc(sizeof *report);
    if (report == NULL) {
        sink_printf(sink, "ptds: no memory for the report\n");
        return -1;
    }
    struct deadline deadline = {.watch = {.go_on = go_on}, .report = report, .budget_ns = budget_ns};
    int status = report_build_watched(report, source, NULL, &deadline.watch, error);
    if (status == 0 && report->left_out == 0 && has_half_left(&deadline))
        residual_find(report);
    if (status == 0)
        writer(report, NULL, sink);
    else
        sink_printf(sink, "ptds: %s\n", error);
    report_end(report);
    free(report);
    return status;
}

int at_exit_summary(const struct trace_source *source, uint64_t budget_ns, struct text_sink *sink)
{
    return write_report(source, budget_ns, sink, report_summary);
}

int at_exit_full_report(const struct trace_source *source, uint64_t budget_ns, struct text_sink *sink)
{
    return write_report(source, budget_ns, sink, report_text);
}
