/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to perfetto`: each process with a track a host thread, a track a stream as the program named it and a
 * track a stream as the work was sent to; regions; flows from calls to their work and along implicit edges; counters of
 * streams with pending work. Streams, packet by packet. Must not show a duration that nobody measured: a call that was not
 * timed, and work on streams whose device time was not recorded, are instants.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/perfetto/perfetto_writer.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/export/perfetto/perfetto_event.h"
#include "analysis/views/export/perfetto/perfetto_names.h"
#include "analysis/views/export/perfetto/perfetto_regions.h"
#include "analysis/views/verdict_words.h"

static void call_arguments(struct writer *writer, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t bytes = export_job_bytes(view->call);
    perfetto_names_stream_argument(writer, "stream", call->stream);
    perfetto_names_stream_argument(writer, "target", call->target);
    if (call->op == PTDS_OP_LAUNCH)
        perfetto_names_kernel_argument(writer, call->object);
    if (bytes != 0)
        perfetto_event_number(&writer->packets, "bytes", bytes);
    perfetto_event_number(&writer->packets, "result", call->result);
    if (view_is_blocked(view))
        perfetto_event_number(&writer->packets, "lost_ns", view_blocked_ns(view));
    perfetto_names_site_argument(writer, call->stack);
    if (!view->timed)
        perfetto_event_words(&writer->packets, "duration", "not recorded");
}

/* Device times are known as exactly as their base is; none is before the call, which would turn the flow round. */
static uint64_t device_time_of(const struct writer *writer, const struct device_run *run, int64_t ns, uint64_t least)
{
    uint64_t time = perfetto_writer_time(writer, run->base) + (uint64_t)ns;
    return (int64_t)(time - least) > 0 ? time : least;
}

/* The flow's ends must come in order of time: the call, the stream as named, the stream it was sent to. Where the work ran
 * is the latter: there it has its duration, if that was recorded. */
static void put_work(struct writer *writer, const struct call_view *view, uint64_t time, uint64_t flow)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint32_t sent = call->target != 0 ? call->target : call->stream;
    static const enum track_kind kinds[] = {TRACK_ASKED, TRACK_SENT};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t uid = i == 0 ? call->stream : sent;
        if (uid == 0)
            continue;
        uint64_t track = perfetto_writer_track(writer, kinds[i], uid);
        const struct device_run *run = i == 1 ? view->ran : NULL;
        uint64_t start = run != NULL ? device_time_of(writer, run, run->start, time) : time;
        perfetto_event_begin(&writer->packets, run != NULL ? EVENT_BEGIN : EVENT_INSTANT, track, start);
        perfetto_event_category(&writer->packets, "work");
        perfetto_names_work(writer, view);
        perfetto_event_flow(&writer->packets, flow, i == 1);
        perfetto_event_number(&writer->packets, "thread", view->call->thread);
        perfetto_names_stream_argument(writer, i == 0 ? "target" : "stream", i == 0 ? sent : call->stream);
        perfetto_event_end(&writer->packets);
        if (run != NULL)
            perfetto_writer_end_slice(writer, track, device_time_of(writer, run, run->end, start));
    }
}

static void put_pending(struct writer *writer, struct model *model, uint32_t context, uint64_t time)
{
    struct pending pending;
    uint32_t uid = context < model->contexts.count ? model->contexts.items[context].uid : 0, last;
    model_pending(model, context, ORDER_OF_ALL, MODEL_NO_SLOT, &pending);
    if (id_map_get(&writer->pending, uid, &last) ? last == pending.count : pending.count == 0)
        return;
    writer->packets.broken |= !id_map_put(&writer->pending, uid, pending.count);
    uint64_t track = perfetto_writer_track(writer, TRACK_PENDING, uid);
    perfetto_event_begin(&writer->packets, EVENT_COUNTER, track, time);
    perfetto_event_counter(&writer->packets, pending.count);
    perfetto_event_end(&writer->packets);
}

static void put_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct writer *writer = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t time = perfetto_writer_time(writer, call->enter), flow = writer->process << 40 | ++writer->flows;
    uint64_t track = perfetto_writer_track(writer, TRACK_HOST_THREAD, view->call->thread);
    put_pending(writer, model, view->context, time);
    perfetto_regions_before_call(writer, view->call);
    perfetto_event_begin(&writer->packets, view->timed ? EVENT_BEGIN : EVENT_INSTANT, track, time);
    perfetto_event_category(&writer->packets, view_is_blocked(view) ? "blocked" : "call");
    perfetto_names_api(writer, call->api);
    if (view->submits)
        perfetto_event_flow(&writer->packets, flow, false);
    call_arguments(writer, view);
    perfetto_event_end(&writer->packets);
    if (view->submits)
        put_work(writer, view, time, flow);
    uint64_t returned = view->timed ? perfetto_writer_time(writer, call->leave) : time;
    if (view->timed)
        perfetto_writer_end_slice(writer, track, returned);
    perfetto_regions_after_call(writer, view->call, returned);
}

static void after_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct writer *writer = walker->data;
    put_pending(writer, model, view->context, perfetto_writer_time(writer, view->call->r.enter));
}

struct edge_writer {
    struct edge_sink sink;
    struct writer *writer;
};

static void put_edge_end(struct writer *writer, const struct edge *edge, bool is_to, uint64_t flow)
{
    const struct edge_end *end = is_to ? &edge->to : &edge->from;
    char text[200];
    bool fresh;
    uint64_t track = end->stream != 0 ? perfetto_writer_track(writer, TRACK_ASKED, end->stream)
                                      : perfetto_writer_track(writer, TRACK_HOST_THREAD, end->thread);
    perfetto_event_begin(&writer->packets, EVENT_INSTANT, track, perfetto_writer_time(writer, end->ticks));
    perfetto_event_category(&writer->packets, verdict_words[edge->verdict]);
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_EVENT,
                                            key_of(TEXT_EDGE, edge->kind * 8 + edge->verdict * 2 + is_to), &fresh);
    snprintf(text, sizeof text, "%s, %s: %s", edge_kind_names[edge->kind], is_to ? "waits" : "waited for",
             verdict_words[edge->verdict]);
    if (fresh)
        perfetto_packets_define(&writer->packets, NAMES_EVENT, number, text);
    perfetto_event_name(&writer->packets, number);
    perfetto_event_flow(&writer->packets, flow, is_to);
    if (edge->verdict == VERDICT_MAYBE_NEEDED)
        perfetto_event_words(&writer->packets, "reason", verdict_reason_names[edge->reason]);
    if (end->object != 0 && end->op == PTDS_OP_LAUNCH)
        perfetto_names_kernel_argument(writer, end->object);
    perfetto_names_site_argument(writer, end->stack);
    if (report_words_has_address(&edge->pair)) {
        perfetto_event_number(&writer->packets, "address", edge->pair.address);
        perfetto_event_number(&writer->packets, "size", edge->pair.size);
    }
    perfetto_event_end(&writer->packets);
}

static void put_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct writer *writer = ((struct edge_writer *)sink)->writer;
    uint64_t flow = (uint64_t)1 << 63 | writer->process << 40 | ++writer->flows;
    put_edge_end(writer, edge, false, flow);
    put_edge_end(writer, edge, true, flow);
}

static void put_note(void *data, const char *line)
{
    struct writer *writer = data;
    bool fresh;
    perfetto_event_begin(&writer->packets, EVENT_INSTANT, perfetto_writer_uuid(writer, TRACK_NOTES, 0),
                         perfetto_writer_time(writer, writer->traced->first_ticks));
    perfetto_event_category(&writer->packets, "note");
    uint32_t number =
        perfetto_packets_name(&writer->packets, NAMES_EVENT, key_of(TEXT_NOTE, (uint32_t)++writer->flows), &fresh);
    perfetto_packets_define(&writer->packets, NAMES_EVENT, number, line);
    perfetto_event_name(&writer->packets, number);
    perfetto_event_end(&writer->packets);
}

static void put_origin(struct writer *writer)
{
    char when[64], text[128];
    time_t seconds = (time_t)(writer->base / 1000000000u);
    struct tm utc;
    if (!writer->traced->has_realtime || gmtime_r(&seconds, &utc) == NULL)
        return;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, sizeof text, "time 0 is %s.%09" PRIu64 "Z", when, writer->base % 1000000000u);
    put_note(writer, text);
}

static void put_process(struct writer *writer)
{
    char name[500], who[160];
    traced_name(writer->traced, who, sizeof who);
    snprintf(name, sizeof name, "%s (%s)", text_base(writer->report->trace.header.program), who);
    struct perfetto_packets_track self = {.uuid = perfetto_writer_uuid(writer, TRACK_SELF, 0), .name = name};
    self.is_process = writer->own_pid;
    self.pid = writer->report->trace.header.pid;
    perfetto_packets_track(&writer->packets, &self);
    static const struct {
        enum track_kind kind;
        const char *name;
    } groups[] = {{TRACK_NOTES, "notes"},
                  {TRACK_GROUP_ASKED, "streams as the program named them"},
                  {TRACK_GROUP_SENT, "streams that the work was sent to"}};
    for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        struct perfetto_packets_track track = {
            .uuid = perfetto_writer_uuid(writer, groups[i].kind, 0), .parent = self.uuid, .name = groups[i].name};
        perfetto_packets_track(&writer->packets, &track);
    }
    put_origin(writer);
}

static int write_process(struct writer *writer)
{
    struct walker walker = {.call = put_call, .after = after_call, .data = writer};
    struct edge_writer edges = {.sink = {.edge = put_edge}, .writer = writer};
    perfetto_packets_begin(&writer->packets, writer->job->out, (uint32_t)writer->process);
    put_process(writer);
    perfetto_regions_begin(writer);
    int status = export_job_walk(writer->job, writer->traced, &walker, &edges.sink);
    perfetto_regions_end(writer);
    export_job_notes(writer->job, writer->traced, put_note, writer);
    perfetto_packets_end(&writer->packets);
    bool broken = writer->packets.broken;
    id_map_free(&writer->uuids);
    id_map_free(&writer->tracks);
    id_map_free(&writer->tids);
    id_map_free(&writer->pending);
    return broken || status != 0
               ? export_job_failed(writer->job, "%s: not all of it could be written", writer->traced->path)
               : 0;
}

int export_perfetto(struct export_job *job)
{
    struct id_map pids = {0};
    uint64_t base = traces_origin(job->traces);
    uint32_t uuids = 0;
    int status = 0;
    for (size_t i = 0; status == 0 && i < job->traces->list.count; i++) {
        struct traced *traced = job->traces->list.items[i];
        struct writer writer = {
            .job = job, .traced = traced, .report = &traced->report, .base = base, .process = i + 1, .uuids_used = uuids};
        uint32_t other;
        writer.own_pid =
            traced->report.trace.header.pid != 0 && !id_map_get(&pids, traced->report.trace.header.pid, &other);
        id_map_put(&pids, traced->report.trace.header.pid, 1);
        symbolizer_of(job->namer, &writer.report->trace);
        status = write_process(&writer);
        uuids = writer.uuids_used;
    }
    id_map_free(&pids);
    return status;
}
