/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to sqlite`: one database for all processes. Tables that mean what nsys' mean have nsys' names and columns,
 * so that queries carry over; the others begin with PTDS_. What is not known is NULL, and what nobody recorded (GPU
 * activity) has no table.
 */
#include <sqlite3.h>
#include <string.h>

#include "analysis/trace/device_times.h"
#include "analysis/views/export/export.h"
#include "analysis/symbols/symbols.h"
#include "analysis/report/walk.h"

static const char schema[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE PROCESSES(globalPid INTEGER PRIMARY KEY, pid INTEGER, name TEXT);"
    "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, \"end\" INTEGER, eventClass INTEGER NOT NULL,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL REFERENCES StringIds(id), returnValue INTEGER,"
    " callchainId INTEGER);"
    "CREATE TABLE PTDS_META(process INTEGER, name TEXT, value);"
    "CREATE TABLE PTDS_PROCESS(process INTEGER PRIMARY KEY, globalPid INTEGER, host TEXT, rank INTEGER, pid INTEGER,"
    " program TEXT, trace TEXT, policy TEXT, start_unix_ns INTEGER, run_ns INTEGER, calls INTEGER, host_ns_lost INTEGER,"
    " blocked_ns INTEGER, threads_ns INTEGER, outcome TEXT);"
    "CREATE TABLE PTDS_STREAM(process INTEGER, uid INTEGER, context INTEGER, kind TEXT, thread INTEGER, priority INTEGER,"
    " name TEXT, PRIMARY KEY(process, uid));"
    "CREATE TABLE PTDS_CALL(process INTEGER, correlationId INTEGER, thread INTEGER, op INTEGER, work TEXT, context INTEGER,"
    " stream INTEGER, target INTEGER, stack INTEGER, object INTEGER, generation INTEGER, bytes INTEGER, flags INTEGER,"
    " region TEXT, blocked INTEGER, lost_ns INTEGER, waits_for INTEGER, device_start INTEGER, device_end INTEGER,"
    " PRIMARY KEY(process, correlationId)) WITHOUT ROWID;"
    "CREATE TABLE PTDS_FRAME(process INTEGER, stack INTEGER, depth INTEGER, object TEXT, offset INTEGER, symbol TEXT);"
    "CREATE TABLE PTDS_FINDING(process INTEGER, id TEXT, rule TEXT, detail TEXT, api TEXT, stack INTEGER, count INTEGER,"
    " host_ns INTEGER, host_unknown_calls INTEGER, object TEXT, class TEXT, severity TEXT, folded TEXT);"
    "CREATE TABLE PTDS_EDGE(process INTEGER, kind TEXT, verdict TEXT, reason TEXT, from_ns INTEGER, from_thread INTEGER,"
    " from_stream INTEGER, from_stack INTEGER, to_ns INTEGER, to_thread INTEGER, to_stream INTEGER, to_stack INTEGER,"
    " address INTEGER, size INTEGER, allocation INTEGER);";

enum { STRING, PROCESS, THREAD, RUNTIME, META, OWN_PROCESS, STREAM, CALL, FRAME, FINDING, EDGE, STATEMENTS };
static const char *const inserts[STATEMENTS] = {
    "INSERT INTO StringIds VALUES(?,?)",
    "INSERT OR IGNORE INTO PROCESSES VALUES(?,?,?)",
    "INSERT INTO ThreadNames VALUES(?,NULL,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,1,?,?,?,?,?)",
    "INSERT INTO PTDS_META VALUES(?,?,?)",
    "INSERT INTO PTDS_PROCESS VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO PTDS_STREAM VALUES(?,?,?,?,?,?,?)",
    "INSERT INTO PTDS_CALL VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO PTDS_FRAME VALUES(?,?,?,?,?,?)",
    "INSERT INTO PTDS_FINDING VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO PTDS_EDGE VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
};

struct database {
    struct edge_sink sink; /* first: an edge comes back as this */
    sqlite3 *file;
    sqlite3_stmt *insert[STATEMENTS];
    int error; /* the first, SQLITE_OK so far */
    struct export_job *job;
    const struct traced *traced;
    size_t process;
    uint64_t base; /* of all times: nsys' begin at 0 */
    uint64_t correlation;
    int64_t strings;
    struct id_map names; /* of this process: api -> StringIds */
    struct device_times device;
    sqlite3_stmt *row;
    int column;
};

static void begin_row(struct database *database, int table)
{
    database->row = database->insert[table];
    database->column = 0;
}

static void put(struct database *database, int status)
{
    if (database->error == SQLITE_OK)
        database->error = status;
}

static void put_number(struct database *database, uint64_t value)
{
    put(database, sqlite3_bind_int64(database->row, ++database->column, (sqlite3_int64)value));
}

static void put_number_if(struct database *database, bool known, uint64_t value)
{
    database->column += !known; /* unbound is NULL */
    if (known)
        put_number(database, value);
}

static void put_text(struct database *database, const char *text)
{
    database->column++;
    if (text != NULL)
        put(database, sqlite3_bind_text(database->row, database->column, text, -1, SQLITE_TRANSIENT));
}

static void end_row(struct database *database)
{
    int status = sqlite3_step(database->row);
    put(database, status == SQLITE_DONE ? SQLITE_OK : status);
    sqlite3_reset(database->row);
    sqlite3_clear_bindings(database->row);
}

static uint64_t time_of(const struct database *database, uint64_t ticks)
{
    return traced_time(database->traced, database->base, ticks);
}

/* As nsys packs them: machine or process, then process, then thread, 24 bits each. */
static uint64_t global_tid(const struct database *database, uint32_t tid)
{
    uint64_t pid = database->traced->report.trace.header.pid;
    return (uint64_t)(database->process & 0x7fff) << 48 | (pid & 0xffffff) << 24 | (tid & 0xffffff);
}

static uint64_t thread_tid(const struct database *database, uint32_t uid)
{
    const struct thread_def *thread = definitions_thread(&database->traced->report.trace.defs, uid);
    return global_tid(database, thread != NULL ? thread->tid : 0);
}

static int64_t new_string(struct database *database, const char *text)
{
    begin_row(database, STRING);
    put_number(database, (uint64_t)++database->strings);
    put_text(database, text);
    end_row(database);
    return database->strings;
}

static uint64_t api_string(struct database *database, uint32_t api)
{
    uint32_t at = 0;
    if (id_map_get(&database->names, api, &at))
        return at;
    at = (uint32_t)new_string(database, definitions_api_name(&database->traced->report.trace.defs, api));
    id_map_put(&database->names, api, at);
    return at;
}

static void add_runtime(struct database *database, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t name = api_string(database, call->api);
    begin_row(database, RUNTIME);
    put_number(database, time_of(database, call->enter));
    put_number_if(database, view->timed, time_of(database, call->leave));
    put_number(database, thread_tid(database, view->call->thread));
    put_number(database, database->correlation);
    put_number(database, name);
    put_number(database, call->result);
    put_number_if(database, call->stack != 0, call->stack);
    end_row(database);
}

static void add_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct database *database = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    char work[300] = "";
    (void)model;
    database->correlation++;
    add_runtime(database, view);
    if (view->submits)
        export_work_name(&database->traced->report, view, work, sizeof work);
    uint64_t bytes = export_bytes(view->call);
    begin_row(database, CALL);
    put_number(database, database->process);
    put_number(database, database->correlation);
    put_number(database, view->call->thread);
    put_number(database, call->op);
    put_text(database, view->submits ? work : NULL);
    put_number(database, call->context);
    put_number_if(database, call->stream != 0, call->stream);
    put_number_if(database, call->target != 0, call->target);
    put_number_if(database, call->stack != 0, call->stack);
    put_number_if(database, call->object != 0, call->object);
    put_number_if(database, call->generation != 0, call->generation);
    put_number_if(database, bytes != 0, bytes);
    put_number(database, call->flags);
    put_text(database, call->region != 0 ? definitions_string(&database->traced->report.trace.defs, call->region) : NULL);
    put_number_if(database, view->timed, view->blocked);
    put_number_if(database, view->timed, view->lost_ns);
    put_number(database, view->waits.count);
    const struct device_run *run = device_times_of(&database->device, view->call);
    put_number_if(database, run != NULL, run != NULL ? time_of(database, run->base) + (uint64_t)run->start : 0);
    put_number_if(database, run != NULL, run != NULL ? time_of(database, run->base) + (uint64_t)run->end : 0);
    end_row(database);
}

static void add_meta(void *data, const char *line)
{
    struct database *database = data;
    begin_row(database, META);
    put_number(database, database->process);
    put_text(database, "note");
    put_text(database, line);
    end_row(database);
}

static void add_process(struct database *database)
{
    const struct traced *traced = database->traced;
    const struct report *report = &traced->report;
    const struct ptds_trace_header *header = &report->trace.header;
    begin_row(database, PROCESS);
    put_number(database, global_tid(database, 0));
    put_number(database, header->pid);
    put_text(database, header->program);
    end_row(database);
    begin_row(database, OWN_PROCESS);
    put_number(database, database->process);
    put_number(database, global_tid(database, 0));
    put_text(database, header->host);
    put_number_if(database, header->rank >= 0, (uint64_t)header->rank);
    put_number(database, header->pid);
    put_text(database, header->program);
    put_text(database, traced->path);
    put_text(database, report_policy(report));
    put_number_if(database, traced->has_realtime, traced_realtime(traced, traced->first_ticks));
    put_number_if(database, report->totals.run_ns != 0, report->totals.run_ns);
    put_number(database, report->totals.calls);
    put_number_if(database, report->totals.costed != 0, report->totals.host_ns);
    put_number_if(database, trace_has_time(&report->trace), report->totals.blocked_ns);
    put_number_if(database, trace_has_time(&report->trace), report->totals.threads_ns);
    put_text(database, doubt_names[report_outcome(report).doubt]);
    end_row(database);
    export_notes(database->job, traced, add_meta, database);
}

static void add_names(struct database *database)
{
    const struct report *report = &database->traced->report;
    const struct definitions *defs = &report->trace.defs;
    char name[160];
    for (size_t i = 0; i < defs->threads.count; i++) {
        int64_t text = new_string(database, defs->threads.items[i].text != NULL ? defs->threads.items[i].text : "");
        begin_row(database, THREAD);
        put_number(database, (uint64_t)text);
        put_number(database, global_tid(database, defs->threads.items[i].tid));
        end_row(database);
    }
    for (size_t i = 0; i < defs->streams.count; i++) {
        const struct stream_def *stream = &defs->streams.items[i];
        report_id(report, FINDING_STREAMS, stream->uid, name, sizeof name);
        begin_row(database, STREAM);
        put_number(database, database->process);
        put_number(database, stream->uid);
        put_number(database, stream->context);
        put_text(database, report_stream_kind(stream->kind));
        put_number_if(database, stream->thread != 0, stream->thread);
        put_number(database, (uint64_t)(int64_t)stream->priority);
        put_text(database, name);
        end_row(database);
    }
}

static void add_stack(struct database *database, const struct stack_def *stack)
{
    const struct report *report = &database->traced->report;
    struct site_namer *namer = database->job->namer;
    char symbol[300];
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct object_def *object = definitions_object_at(&report->trace.defs, stack->pc[i]);
        bool named = namer->name(namer, object, stack->pc[i], symbol, sizeof symbol);
        begin_row(database, FRAME);
        put_number(database, database->process);
        put_number(database, stack->id);
        put_number(database, i);
        put_text(database, object != NULL ? object->text : NULL);
        put_number(database, object != NULL ? stack->pc[i] - object->bias : stack->pc[i]);
        put_text(database, named ? symbol : NULL);
        end_row(database);
    }
}

static void add_finding(struct database *database, const struct finding *finding)
{
    const struct report *report = &database->traced->report;
    begin_row(database, FINDING);
    put_number(database, database->process);
    put_text(database, identity_of(&report->trace, finding).text);
    put_text(database, finding->rule->id);
    put_text(database, finding->rule->details != NULL ? finding->rule->details[finding->detail] : NULL);
    put_text(database, finding->has_api ? report_api(report, finding) : NULL);
    put_number_if(database, finding->stack != 0, finding->stack);
    put_number(database, finding->count);
    put_number_if(database, finding->known != 0, finding->host_ns);
    put_number(database, finding->unknown);
    put_text(database, finding->text);
    put_text(database, finding->rule->class_);
    put_text(database, severity_names[finding->severity]);
    put_text(database, fold_names[finding->fold]);
    end_row(database);
}

static void put_edge_end(struct database *database, const struct edge_end *end)
{
    put_number(database, time_of(database, end->ticks));
    put_number(database, end->thread);
    put_number_if(database, end->stream != 0, end->stream);
    put_number_if(database, end->stack != 0, end->stack);
}

static void add_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct database *database = (struct database *)sink;
    bool pair = edge->pair.address != 0;
    begin_row(database, EDGE);
    put_number(database, database->process);
    put_text(database, edge->kind < EDGE_KINDS ? edge_kind_names[edge->kind] : NULL);
    put_text(database, edge->verdict < VERDICTS ? verdict_keys[edge->verdict] : NULL);
    put_text(database, edge->verdict == VERDICT_MAYBE_NEEDED && edge->reason < VERDICT_REASONS
                           ? verdict_reason_names[edge->reason]
                           : NULL);
    put_edge_end(database, &edge->from);
    put_edge_end(database, &edge->to);
    put_number_if(database, pair, edge->pair.address);
    put_number_if(database, pair && edge->pair.size != 0, edge->pair.size);
    put_number_if(database, pair && edge->pair.allocation != 0, edge->pair.allocation);
    end_row(database);
}

static int write_process(struct database *database)
{
    const struct report *report = &database->traced->report;
    struct walker walker = {.call = add_call, .data = database};
    struct edge_feed *feed = database->job->edges;
    symbols_of(database->job->namer, &report->trace);
    add_process(database);
    add_names(database);
    for (size_t i = 0; i < report->trace.defs.stacks.count; i++)
        add_stack(database, &report->trace.defs.stacks.items[i]);
    for (size_t i = 0; i < report->findings.count; i++)
        add_finding(database, report->findings.items[i]);
    device_times_begin(&database->device, &report->trace);
    int status = database->device.out_of_memory ? -1 : report_walk(report, &walker);
    if (status == 0 && feed != NULL)
        status = feed->run(feed, report, &database->sink);
    id_map_free(&database->names);
    device_times_end(&database->device);
    return status;
}

static int open_database(struct database *database, const char *path)
{
    int status = sqlite3_open_v2(path, &database->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_exec(database->file, schema, NULL, NULL, NULL);
    for (int i = 0; i < STATEMENTS && status == SQLITE_OK; i++)
        status = sqlite3_prepare_v2(database->file, inserts[i], -1, &database->insert[i], NULL);
    return status;
}

int export_sqlite(struct export_job *job)
{
    struct database database = {.sink = {.edge = add_edge}, .job = job, .base = traces_origin(job->traces)};
    int status = 0;
    database.error = open_database(&database, job->path);
    for (size_t i = 0; i < job->traces->list.count && database.error == SQLITE_OK && status == 0; i++) {
        database.process = i;
        database.traced = job->traces->list.items[i];
        status = write_process(&database);
    }
    if (database.error == SQLITE_OK)
        database.error = sqlite3_exec(database.file, "COMMIT", NULL, NULL, NULL);
    if (database.error != SQLITE_OK)
        status = export_failed(job, "%s: %s", job->name != NULL ? job->name : job->path, sqlite3_errmsg(database.file));
    else if (status != 0)
        export_failed(job, "%s: not all of it could be written", database.traced->path);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(database.insert[i]);
    sqlite3_close(database.file);
    return status;
}
