/* SPDX-License-Identifier: Apache-2.0
 *
 * One trace of several: its report, its place among the others in time, its name, what is missing in it.
 */

#include "analysis/report/many/traced.h"

#include "analysis/report/many/traces.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/heap.h"
#include "analysis/base/text.h"
#include "analysis/report/floor.h"
#include "analysis/report/outcome.h"

int traced_make(struct traced *traced, struct walker *walker)
{
    char error[TRACE_ERROR_SIZE];
    struct report *report = &traced->report;
    int status = report_make(report, NULL, report->walks, walker, error);
    if (report->walks != NULL && report->walks->progress != NULL)
        report->walks->progress(report->walks, report->trace.calls, report->trace.calls);
    return status != 0 || report->out_of_memory ? -1 : 0;
}

void traced_name(const struct traced *traced, char *out, size_t room)
{
    const struct ptds_trace_header *header = &traced->report.trace.header;
    if (header->rank >= 0)
        snprintf(out, room, "%s rank %d pid %u", header->host, header->rank, header->pid);
    else
        snprintf(out, room, "%s pid %u", header->host, header->pid);
}

/* Between the first reading and the last, so that a clock that was adjusted meanwhile is off by little at either. */
uint64_t traced_realtime(const struct traced *traced, uint64_t ticks)
{
    const struct clock_def *clocks = traced->report.trace.defs.clocks.items;
    if (!traced->has_realtime)
        return 0;
    double rate;
    if (clocks[1].ticks > clocks[0].ticks && clocks[1].realtime > clocks[0].realtime)
        rate = (double)(clocks[1].realtime - clocks[0].realtime) / (double)(clocks[1].ticks - clocks[0].ticks);
    else
        rate = (double)trace_ns(&traced->report.trace, 1u << 30) / (1u << 30);
    bool before = ticks < clocks[0].ticks;
    double away = (double)(before ? clocks[0].ticks - ticks : ticks - clocks[0].ticks) * rate;
    if (before)
        return away < (double)clocks[0].realtime ? clocks[0].realtime - (uint64_t)away : 0;
    return away < 9e18 ? clocks[0].realtime + (uint64_t)away : UINT64_MAX / 2;
}

uint64_t traced_time(const struct traced *traced, uint64_t origin, uint64_t ticks)
{
    if (traced->has_realtime) {
        uint64_t now = traced_realtime(traced, ticks);
        return now > origin ? now - origin : 0;
    }
    uint64_t passed = traced->first_ticks < ticks ? ticks - traced->first_ticks : 0;
    return trace_has_time(&traced->report.trace) ? trace_ns(&traced->report.trace, passed) : passed;
}

struct reasons {
    void (*each)(void *data, const char *line);
    void *data;
    unsigned count;
};

__attribute__((format(printf, 3, 4))) static void reason(struct reasons *reasons, uint64_t count, const char *format, ...)
{
    char text[200];
    va_list values;
    if (count == 0)
        return;
    reasons->count++;
    if (reasons->each == NULL)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    reasons->each(reasons->data, text);
}

unsigned traced_incomplete(const struct traced *traced, void (*each)(void *data, const char *line), void *data)
{
    const struct report *report = &traced->report;
    const struct trace *trace = &report->trace;
    struct reasons reasons = {.each = each, .data = data};
    const char *past = outcome_first_past(report);
    uint64_t lost = trace_not_kept(trace), uncounted = trace_uncounted(trace), recycled = trace->header.recycled;
    reason(&reasons, trace->damaged, "damaged in %s, the first at offset %llu", text_plural(trace->damaged, "place").text,
           (unsigned long long)(trace->damages.count != 0 ? trace->damages.items[0].offset : 0));
    reason(&reasons, lost, "%s %s not kept", text_plural(lost, "record").text, lost == 1 ? "was" : "were");
    reason(&reasons, uncounted, "the calls of %s are not counted", text_plural(uncounted, "thread").text);
    reason(&reasons, recycled, "%s of the oldest detail %s overwritten", text_plural(recycled, "chunk").text,
           recycled == 1 ? "was" : "were");
    reason(&reasons, trace->lost_chunks, "%s %s beyond the end of the trace", text_plural(trace->lost_chunks, "chunk").text,
           trace->lost_chunks == 1 ? "lies" : "lie");
    reason(&reasons, report->left_out, "there was no time to look at all calls");
    reason(&reasons, report->refused, "there were more call sites than are followed");
    reason(&reasons, report->totals.unplaced + report->edges.totals.unplaced, "there were more streams than are followed");
    reason(&reasons, report->totals.unknown_streams, "%s on streams whose creation was not seen",
           text_plural(report->totals.unknown_streams, "operation").text);
    reason(&reasons, past != NULL, "calls may have gone past the shim (%.100s)", past != NULL ? past : "");
    reason(&reasons, outcome_has_no_calls(report), "no driver call was recorded");
    reason(&reasons, report->out_of_memory, "there was not enough memory for all of it");
    reason(&reasons, !trace->header.clean_end, "the process did not end through exit");
    reason(&reasons, outcome_of(&traced->report).stuck != NULL, "a call had not returned (deadlock-risk)");
    return reasons.count;
}
