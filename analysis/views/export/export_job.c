/* SPDX-License-Identifier: Apache-2.0
 *
 * What the export formats share: failing, sizes and names of work, the notes that stand beside every export.
 */
#include "analysis/views/export/export_job.h"

#include <inttypes.h>
#include <stdarg.h>

#include "analysis/report/many/traced.h"
#include "analysis/views/gap_words.h"

int export_job_failed(struct export_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(job->error, sizeof job->error, format, args);
    va_end(args);
    return -1;
}

int export_job_walk(const struct export_job *job, struct traced *traced, struct walker *walker, struct edge_sink *edges)
{
    if (!traced->report.made) {
        walker->edges = job->edges != NULL ? edges : NULL;
        return traced_make(traced, walker);
    }
    int status = walk_calls(&traced->report, walker);
    if (status == 0 && job->edges != NULL && edges != NULL)
        status = job->edges->run(job->edges, &traced->report, edges);
    return status;
}

uint64_t export_job_bytes(const struct call *call)
{
    bool copy = call->r.op == PTDS_OP_COPY;
    uint64_t width = call_word(call, copy ? 2 : 1), height = call_word(call, copy ? 3 : 2), bytes;
    if (!copy && call->r.op != PTDS_OP_MEMSET)
        return 0;
    return __builtin_mul_overflow(width, height > 1 ? height : 1, &bytes) ? 0 : bytes;
}

static const char *memory_kind(unsigned kind)
{
    static const char *const names[] = {"unknown", "pageable", "pinned", "registered", "device",   "pool",
                                        "managed", "array",    "mapped", "ipc",        "external", "global"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

void export_job_work_name(const struct report *report, const struct call_view *view, char *out, size_t room)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    switch (call->op) {
    case PTDS_OP_LAUNCH: report_words_id(report, FINDING_KERNELS, call->object, out, room); return;
    case PTDS_OP_COPY:
        snprintf(out, room, "memcpy %s to %s", memory_kind(call->kinds >> 4), memory_kind(call->kinds & 15));
        return;
    case PTDS_OP_MEMSET: snprintf(out, room, "memset"); return;
    case PTDS_OP_EVENT_RECORD: snprintf(out, room, "record event %u", call->object); return;
    case PTDS_OP_EVENT_WAIT: snprintf(out, room, "wait for event %u", call->object); return;
    case PTDS_OP_HOST_FUNCTION: snprintf(out, room, "host function"); return;
    case PTDS_OP_GRAPH_LAUNCH: snprintf(out, room, "graph %u", call->object); return;
    default: snprintf(out, room, "%s", definitions_api_name(&report->trace.defs, call->api)); return;
    }
}

void export_job_notes(const struct export_job *job, const struct traced *traced, void (*each)(void *data, const char *line),
                      void *data)
{
    const struct report *report = &traced->report;
    char text[400];
    snprintf(text, sizeof text, "policy %s%s, trace %s, libptds %s", report_words_policy(report),
             report_words_trust(report), traced->path, report->trace.header.shim);
    each(data, text);
    snprintf(text, sizeof text, "%s: %s is shown at the moment it was submitted, without a duration",
             report_words_gpu_times(&report->totals).text, report->totals.gpu_timed == 0 ? "work" : "other work");
    each(data, text);
    if (job->edges == NULL)
        each(data, "no verdicts: this ptds does not judge implicit orders");
    if (!trace_has_time(&report->trace))
        each(data, "the trace's clock cannot be converted: times are clock ticks, not ns");
    else if (!traced->has_realtime)
        each(data, "no reading of CLOCK_REALTIME: times cannot be compared with other processes'");
    for (size_t i = 0; i < report->trace.damages.count; i++) {
        snprintf(text, sizeof text, "damage at offset %" PRIu64 ": %s", report->trace.damages.items[i].offset,
                 report->trace.damages.items[i].text);
        each(data, text);
    }
    gap_words(report, each, data);
    gap_words_past(report, each, data);
}
