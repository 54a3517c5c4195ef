/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of events and texts of their arguments, each written once and then called by its number. Called by
 * export_perfetto.c.
 */
#include "analysis/views/export/perfetto/perfetto_names.h"

#include "analysis/views/export/perfetto/perfetto_event.h"
#include "analysis/views/export/perfetto/perfetto_writer.h"

void perfetto_names_api(struct writer *writer, uint32_t api)
{
    bool fresh;
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_EVENT, key_of(TEXT_API, api), &fresh);
    if (fresh)
        perfetto_packets_define(&writer->packets, NAMES_EVENT, number,
                                definitions_api_name(&writer->report->trace.defs, api));
    perfetto_event_name(&writer->packets, number);
}

static uint64_t work_key(const struct ptds_rec_CALL *call)
{
    switch (call->op) {
    case PTDS_OP_LAUNCH: return key_of(TEXT_KERNEL, call->object);
    case PTDS_OP_COPY: return key_of(TEXT_COPY, call->kinds);
    case PTDS_OP_EVENT_RECORD: return key_of(TEXT_RECORD, call->object);
    case PTDS_OP_EVENT_WAIT: return key_of(TEXT_WAIT, call->object);
    case PTDS_OP_GRAPH_LAUNCH: return key_of(TEXT_GRAPH, call->object);
    case PTDS_OP_MEMSET:
    case PTDS_OP_HOST_FUNCTION: return key_of(TEXT_OP, call->op);
    default: return key_of(TEXT_API, call->api);
    }
}

void perfetto_names_work(struct writer *writer, const struct call_view *view)
{
    char text[300];
    bool fresh;
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_EVENT, work_key(&view->call->r), &fresh);
    if (fresh) {
        export_job_work_name(writer->report, view, text, sizeof text);
        perfetto_packets_define(&writer->packets, NAMES_EVENT, number, text);
    }
    perfetto_event_name(&writer->packets, number);
}

void perfetto_names_stream_argument(struct writer *writer, const char *key, uint32_t uid)
{
    char text[100];
    bool fresh;
    if (uid == 0)
        return;
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_VALUE, key_of(TEXT_STREAM, uid), &fresh);
    if (fresh) {
        report_words_id(writer->report, FINDING_STREAMS, uid, text, sizeof text);
        perfetto_packets_define(&writer->packets, NAMES_VALUE, number, text);
    }
    perfetto_event_text(&writer->packets, key, number);
}

void perfetto_names_kernel_argument(struct writer *writer, uint32_t uid)
{
    char text[300];
    bool fresh;
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_VALUE, key_of(TEXT_KERNEL, uid), &fresh);
    if (fresh) {
        report_words_id(writer->report, FINDING_KERNELS, uid, text, sizeof text);
        perfetto_packets_define(&writer->packets, NAMES_VALUE, number, text);
    }
    perfetto_event_text(&writer->packets, "kernel", number);
}

void perfetto_names_site_argument(struct writer *writer, uint32_t stack)
{
    char text[400];
    bool fresh;
    if (stack == 0)
        return;
    uint32_t number = perfetto_packets_name(&writer->packets, NAMES_VALUE, key_of(TEXT_SITE, stack), &fresh);
    if (fresh) {
        bool known = report_words_site(writer->report, writer->job->namer, stack, text, sizeof text);
        perfetto_packets_define(&writer->packets, NAMES_VALUE, number, known ? text : "unknown");
    }
    perfetto_event_text(&writer->packets, "site", number);
}
