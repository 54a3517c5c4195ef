/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to sqlite`: one database for all processes. Tables that mean what nsys' mean have nsys' names and columns,
 * so that queries carry over; the others begin with PTDS_, and are written here. What is not known is NULL, and what nobody
 * recorded has no table.
 */
#include <string.h>
#include <time.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/views/export/sqlite/sqlite_database.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/trace/frames.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/export/sqlite/sqlite_activity.h"
#include "analysis/views/export/sqlite/sqlite_nvtx.h"
#include "analysis/views/export/sqlite/sqlite_row.h"
#include "analysis/views/export/sqlite/sqlite_strings.h"
#include "analysis/views/export/sqlite/sqlite_targets.h"
#include "analysis/views/verdict_words.h"

/* What the call put on a stream. Kernels' names take long to be found, so each is looked up once. */
static const char *work_of(struct database *database, const struct call_view *view, char *out, size_t room)
{
    uint64_t number;
    if (view->call->r.op == PTDS_OP_LAUNCH && sqlite_strings_known(database, STRING_WORK, view->call->r.object, &number))
        return sqlite_strings_text(database, number);
    export_job_work_name(&database->traced->report, view, out, room);
    if (view->call->r.op == PTDS_OP_LAUNCH)
        sqlite_strings_keep(database, STRING_WORK, view->call->r.object, out);
    return out;
}

static void add_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct database *database = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct device_run *run = view->ran;
    char work[300];
    (void)model;
    database->correlation++;
    sqlite_activity_call(database, view);
    uint64_t bytes = export_job_bytes(view->call);
    const char *name = view->submits ? work_of(database, view, work, sizeof work) : NULL;
    sqlite_row_begin(database, TABLE_CALL);
    sqlite_row_number(database, database->process);
    sqlite_row_number(database, database->correlation);
    sqlite_row_number(database, view->call->thread);
    sqlite_row_number(database, call->op);
    sqlite_row_text(database, name);
    sqlite_row_number(database, call->context);
    sqlite_row_number_if(database, call->stream != 0, call->stream);
    sqlite_row_number_if(database, call->target != 0, call->target);
    sqlite_row_number_if(database, call->stack != 0, call->stack);
    sqlite_row_number_if(database, call->object != 0, call->object);
    sqlite_row_number_if(database, call->generation != 0, call->generation);
    sqlite_row_number_if(database, bytes != 0, bytes);
    sqlite_row_number(database, call->flags);
    sqlite_row_text(database,
                    call->region != 0 ? definitions_string(&database->traced->report.trace.defs, call->region) : NULL);
    sqlite_row_number_if(database, view->timed, view_is_blocked(view));
    sqlite_row_number_if(database, view->timed, view_blocked_ns(view));
    sqlite_row_number(database, view->waits.count);
    sqlite_row_number_if(database, run != NULL,
                         run != NULL ? sqlite_database_time(database, run->base) + (uint64_t)run->start : 0);
    sqlite_row_number_if(database, run != NULL,
                         run != NULL ? sqlite_database_time(database, run->base) + (uint64_t)run->end : 0);
    sqlite_row_end(database);
}

static void add_meta(void *data, const char *line)
{
    sqlite_row_meta(data, "note", line);
}

static void add_process(struct database *database)
{
    const struct traced *traced = database->traced;
    const struct report *report = &traced->report;
    const struct ptds_trace_header *header = &report->trace.header;
    struct outcome outcome = outcome_of(report);
    sqlite_row_begin(database, TABLE_PROCESS);
    sqlite_row_number(database, sqlite_database_tid(database, 0));
    sqlite_row_number(database, header->pid);
    sqlite_row_text(database, header->program);
    sqlite_row_end(database);
    sqlite_row_begin(database, TABLE_OWN_PROCESS);
    sqlite_row_number(database, database->process);
    sqlite_row_number(database, sqlite_database_tid(database, 0));
    sqlite_row_text(database, header->host);
    sqlite_row_number_if(database, header->rank >= 0, (uint64_t)header->rank);
    sqlite_row_number(database, header->pid);
    sqlite_row_text(database, header->program);
    sqlite_row_text(database, traced->path);
    sqlite_row_text(database, report_words_policy(report));
    sqlite_row_number_if(database, traced->has_realtime, traced_realtime(traced, traced->first_ticks));
    sqlite_row_number_if(database, report->totals.run_ns != 0, report->totals.run_ns);
    sqlite_row_number(database, report->totals.calls);
    sqlite_row_number_if(database, report->totals.costed != 0, report->totals.host_ns);
    sqlite_row_number_if(database, outcome_knows_blocked(report), report->totals.blocked_ns);
    sqlite_row_number_if(database, outcome_knows_times(report), report->totals.threads_ns);
    sqlite_row_text(database, doubt_names[outcome_verdict(report)]);
    sqlite_row_number(database, outcome.complete);
    sqlite_row_number(database, outcome.little);
    sqlite_row_end(database);
    export_job_notes(database->job, traced, add_meta, database);
}

static void add_names(struct database *database)
{
    const struct report *report = &database->traced->report;
    const struct definitions *defs = &report->trace.defs;
    char name[160];
    for (size_t i = 0; i < defs->threads.count; i++) {
        uint64_t text = sqlite_strings_of(database, defs->threads.items[i].text != NULL ? defs->threads.items[i].text : "");
        sqlite_row_begin(database, TABLE_THREAD);
        sqlite_row_number(database, text);
        sqlite_row_number(database, sqlite_database_tid(database, defs->threads.items[i].tid));
        sqlite_row_end(database);
    }
    for (size_t i = 0; i < defs->streams.count; i++) {
        const struct stream_def *stream = &defs->streams.items[i];
        report_words_id(report, FINDING_STREAMS, stream->uid, name, sizeof name);
        sqlite_row_begin(database, TABLE_OWN_STREAM);
        sqlite_row_number(database, database->process);
        sqlite_row_number(database, stream->uid);
        sqlite_row_number(database, stream->context);
        sqlite_row_text(database, report_words_stream_kind(stream->kind));
        sqlite_row_number_if(database, stream->thread != 0, stream->thread);
        sqlite_row_number(database, (uint64_t)(int64_t)stream->priority);
        sqlite_row_text(database, name);
        sqlite_row_end(database);
    }
}

static void add_stack(struct database *database, const struct stack_def *stack)
{
    const struct report *report = &database->traced->report;
    struct site_namer *namer = database->job->namer;
    char symbol[300];
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct object_def *object = frames_object_at(&report->trace.defs, stack->pc[i]);
        bool named = namer_name(namer, &report->trace.defs, stack->pc[i], symbol, sizeof symbol);
        sqlite_row_begin(database, TABLE_FRAME);
        sqlite_row_number(database, database->process);
        sqlite_row_number(database, stack->id);
        sqlite_row_number(database, i);
        sqlite_row_text(database, object != NULL ? object->text : NULL);
        sqlite_row_number_if(database, definitions_source(&report->trace.defs, stack->pc[i]) == NULL,
                             object != NULL ? stack->pc[i] - object->bias : stack->pc[i]);
        sqlite_row_text(database, named ? symbol : NULL);
        sqlite_row_end(database);
    }
}

static void add_finding(struct database *database, const struct finding *finding)
{
    const struct report *report = &database->traced->report;
    sqlite_row_begin(database, TABLE_FINDING);
    sqlite_row_number(database, database->process);
    sqlite_row_text(database, identity_of(&report->trace, finding).text);
    sqlite_row_text(database, finding->rule->id);
    sqlite_row_text(database, finding->rule->details != NULL ? finding->rule->details[finding->detail] : NULL);
    sqlite_row_text(database, finding->has_api ? report_words_api(report, finding) : NULL);
    sqlite_row_number_if(database, finding->stack != 0, finding->stack);
    sqlite_row_number(database, finding->count);
    sqlite_row_number_if(database, finding->known != 0, finding->host_ns);
    sqlite_row_number(database, finding->unknown);
    sqlite_row_text(database, finding->text);
    sqlite_row_text(database, finding->rule->class_);
    sqlite_row_text(database, severity_names[finding->severity]);
    sqlite_row_text(database, fold_names[finding->fold]);
    sqlite_row_end(database);
}

static void put_edge_end(struct database *database, const struct edge_end *end)
{
    sqlite_row_number(database, sqlite_database_time(database, end->ticks));
    sqlite_row_number(database, end->thread);
    sqlite_row_number_if(database, end->stream != 0, end->stream);
    sqlite_row_number_if(database, end->stack != 0, end->stack);
}

static void add_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct database *database = (struct database *)sink;
    bool pair = edge->pair.address != 0;
    sqlite_row_begin(database, TABLE_EDGE);
    sqlite_row_number(database, database->process);
    sqlite_row_text(database, edge->kind < EDGE_KINDS ? edge_kind_names[edge->kind] : NULL);
    sqlite_row_text(database, edge->verdict < VERDICTS ? verdict_keys[edge->verdict] : NULL);
    sqlite_row_text(database, edge->verdict == VERDICT_MAYBE_NEEDED && edge->reason < VERDICT_REASONS
                                  ? verdict_reason_names[edge->reason]
                                  : NULL);
    put_edge_end(database, &edge->from);
    put_edge_end(database, &edge->to);
    sqlite_row_number_if(database, report_words_has_address(&edge->pair), edge->pair.address);
    sqlite_row_number_if(database, pair && edge->pair.size != 0, edge->pair.size);
    sqlite_row_number_if(database, pair && edge->pair.allocation != 0, edge->pair.allocation);
    sqlite_row_end(database);
}

static void add_definitions(struct database *database)
{
    symbolizer_of(database->job->namer, &database->traced->report.trace);
    add_names(database);
    sqlite_targets_write(database);
    sqlite_nvtx_write(database);
}

static void add_report(struct database *database)
{
    const struct report *report = &database->traced->report;
    add_process(database);
    for (size_t i = 0; i < report->trace.defs.stacks.count; i++)
        add_stack(database, &report->trace.defs.stacks.items[i]);
    for (size_t i = 0; i < report->findings.count; i++)
        add_finding(database, report->findings.items[i]);
}

static int write_process(struct database *database)
{
    struct walker walker = {.call = add_call, .data = database};
    add_definitions(database);
    int status = export_job_walk(database->job, database->traced, &walker, &database->sink);
    add_report(database);
    sqlite_activity_end(database);
    id_map_free(&database->names);
    id_map_free(&database->domains);
    return database->out_of_memory ? -1 : status;
}

static void add_export(struct database *database, const char *name, const char *value)
{
    sqlite_row_begin(database, TABLE_EXPORT);
    sqlite_row_text(database, name);
    sqlite_row_text(database, value);
    sqlite_row_end(database);
}

/* When time 0 was, how long all of it took, and that this is no export of nsys'. */
static void add_session(struct database *database)
{
    char when[64];
    time_t seconds = (time_t)(database->base / 1000000000u);
    struct tm utc;
    add_export(database, "EXPORT_PRODUCT_NAME", "libptds");
    add_export(database, "EXPORT_PRODUCT_VERSION", PTDS_VERSION);
    sqlite_row_begin(database, TABLE_DETAILS);
    sqlite_row_number(database, database->last);
    sqlite_row_number(database, database->last);
    sqlite_row_end(database);
    if (database->base == 0 || gmtime_r(&seconds, &utc) == NULL)
        return;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    sqlite_row_begin(database, TABLE_SESSION);
    sqlite_row_number(database, database->base);
    sqlite_row_text(database, when);
    sqlite_row_end(database);
}

int export_sqlite(struct export_job *job)
{
    struct database database = {.sink = {.edge = add_edge}, .job = job, .base = traces_origin(job->traces)};
    int status = 0;
    database.error = sqlite_database_begin(&database, job->path);
    for (size_t i = 0; i < job->traces->list.count && database.error == SQLITE_OK && status == 0; i++) {
        database.process = i;
        database.traced = job->traces->list.items[i];
        status = write_process(&database);
    }
    if (database.error == SQLITE_OK)
        add_session(&database);
    if (database.error == SQLITE_OK)
        database.error = sqlite_database_finish(&database);
    if (database.error != SQLITE_OK)
        status = export_job_failed(job, "%s: %s", job->name != NULL ? job->name : job->path, sqlite3_errmsg(database.file));
    else if (status != 0)
        export_job_failed(job, "%s: not all of it could be written", database.traced->path);
    sqlite_database_end(&database);
    return status;
}
