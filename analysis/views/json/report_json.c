/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON writer of the command. Never linked into the shim (jansson). Builds the whole document before it writes any of
 * it.
 */
#include "analysis/views/json/report_json.h"

#include <stdio.h>
#include <string.h>

#include "analysis/findings/identity.h"
#include "analysis/views/json/edges_json.h"
#include "analysis/views/json/parts.h"
#include "analysis/views/opening.h"

static json_t *number(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *number_or_null(bool known, uint64_t value)
{
    return known ? number(value) : json_null();
}

static json_t *hex(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    return json_string(text);
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

/* For texts that were put together and may have been cut inside a UTF-8 sequence, which jansson refuses. */
static json_t *clean_string(const char *text)
{
    char clean[512];
    text_clean(clean, sizeof clean, text, strlen(text));
    return json_string(clean);
}

/* Null: the report is about the whole trace. */
static json_t *selection(const struct report *report)
{
    const struct selection *selection = &report->selection;
    if (selection_is_all(selection))
        return json_null();
    json_t *out = json_object();
    json_object_set_new(out, "thread", selection->thread != NULL ? clean_string(selection->thread) : json_null());
    json_object_set_new(out, "stream", number_or_null(selection->stream != 0, selection->stream));
    json_object_set_new(out, "from_ns", number_or_null(selection->has_from, selection->from_ns));
    json_object_set_new(out, "to_ns", number_or_null(selection->has_to, selection->to_ns));
    return out;
}

static json_t *meta(const struct report *report)
{
    const struct ptds_trace_header *header = &report->trace.header;
    const struct definitions *defs = &report->trace.defs;
    json_t *settings = json_array();
    for (size_t i = 0; i < defs->settings.count; i++)
        json_array_append_new(settings, text_or_null(defs->settings.items[i].text));
    json_t *meta = json_object();
    json_object_set_new(meta, "trace", clean_string(report->trace.source.name));
    json_object_set_new(meta, "trace_version", json_integer(header->version));
    json_object_set_new(meta, "libptds", json_string(header->shim));
    json_object_set_new(meta, "program", json_string(header->program));
    json_object_set_new(meta, "host", json_string(header->host));
    json_object_set_new(meta, "pid", json_integer(header->pid));
    json_object_set_new(meta, "rank", header->rank >= 0 ? json_integer(header->rank) : json_null());
    json_object_set_new(meta, "policy", json_string(report_policy(report)));
    json_object_set_new(meta, "run_ns", number_or_null(report->totals.run_ns != 0, report->totals.run_ns));
    json_object_set_new(meta, "settings", settings);
    json_object_set_new(meta, "selection", selection(report));
    return meta;
}

/* Keys of "kept", by enum kept_reason. */
static const char *const kept_keys[KEPT_REASONS] = {"by_policy", "capture",  "refused",       "excluded",
                                                    "no_way",    "explicit", "detail_dropped"};

static json_t *totals(const struct report *report)
{
    const struct report_totals *totals = &report->totals;
    json_t *kept = json_object(), *streams = json_object(), *out = json_object();
    for (unsigned i = 0; i < KEPT_REASONS; i++)
        json_object_set_new(kept, kept_keys[i], number(totals->kept[i]));
    for (uint32_t kind = 0; kind <= PTDS_STREAM_SHIM_NON_BLOCKING; kind++)
        json_object_set_new(streams, report_stream_kind(kind), number(totals->streams[kind]));
    json_object_set_new(out, "calls", number(totals->calls));
    json_object_set_new(out, "calls_exact", json_boolean(report->has_counts));
    json_object_set_new(out, "failed", number_or_null(report->has_counts, totals->failed));
    json_object_set_new(out, "recorded", number(totals->recorded));
    json_object_set_new(out, "threads", json_integer(report->trace.threads));
    json_object_set_new(out, "streams", streams);
    json_object_set_new(out, "default_stream", number(totals->default_stream));
    json_object_set_new(out, "remapped", number(totals->remapped));
    json_object_set_new(out, "kept", kept);
    json_object_set_new(out, "threads_ns", number_or_null(trace_has_time(&report->trace), totals->threads_ns));
    json_object_set_new(out, "blocked_ns", number_or_null(trace_has_time(&report->trace), totals->blocked_ns));
    json_object_set_new(out, "host_ns_lost", number_or_null(totals->costed != 0, totals->host_ns));
    json_object_set_new(out, "findings_for_90_percent", number_or_null(totals->host_ns != 0, report_cover(report, 90)));
    return out;
}

static json_t *end_of_pair(const struct report *report, const struct edge_end *end, enum access access)
{
    static const char *const words[] = {NULL, "read", "write", NULL};
    const struct api_def *api = definitions_api(&report->trace.defs, end->api);
    char text[300];
    json_t *out = json_object();
    if (end->object != 0)
        report_id(report, FINDING_KERNELS, end->object, text, sizeof text);
    json_object_set_new(out, "api", text_or_null(api != NULL ? api->text : NULL));
    json_object_set_new(out, "kernel", end->object != 0 ? clean_string(text) : json_null());
    json_object_set_new(out, "access", text_or_null(words[access <= ACCESS_UNKNOWN ? access : 0]));
    json_object_set_new(out, "thread", number(end->thread));
    json_object_set_new(out, "stream", number_or_null(end->stream != 0, end->stream));
    return out;
}

/* Two operations that show what is said; null: none can be named. */
static json_t *pair_or_null(const struct report *report, const struct edge_pair *pair)
{
    if (pair == NULL || pair->first.ticks == 0)
        return json_null();
    json_t *out = json_object();
    json_object_set_new(out, "first", end_of_pair(report, &pair->first, pair->first_access));
    json_object_set_new(out, "second", end_of_pair(report, &pair->second, pair->second_access));
    json_object_set_new(out, "address", hex(pair->address));
    json_object_set_new(out, "size", number_or_null(pair->size != 0, pair->size));
    return out;
}

static json_t *outcome(const struct report *report)
{
    struct outcome found = report_outcome(report);
    size_t number_of = found.finding != NULL ? opening_number(report, found.finding) : 0;
    json_t *out = json_object();
    json_object_set_new(out, "verdict", json_string(doubt_names[found.doubt]));
    json_object_set_new(out, "complete", json_boolean(found.complete));
    json_object_set_new(out, "finding", number_or_null(number_of != 0, number_of));
    json_object_set_new(out, "pair", pair_or_null(report, found.pair));
    json_object_set_new(out, "text", clean_string(opening_outcome(report).text));
    return out;
}

static json_t *default_stream(const struct report *report)
{
    struct default_stream found = report_default_stream(report);
    bool known = found.cost != DEFAULT_UNKNOWN;
    json_t *out = json_object();
    json_object_set_new(out, "cost", json_string(default_cost_names[found.cost]));
    json_object_set_new(out, "least_ns", number_or_null(known, 0));
    json_object_set_new(out, "most_ns", number_or_null(known, found.most_ns));
    json_object_set_new(out, "text", clean_string(opening_default_stream(report).text));
    return out;
}

static json_t *startup(const struct report *report)
{
    static const char *const keys[STARTUP_KINDS] = {"allocating_ns", "pinning_ns", "loading_ns"};
    json_t *out = json_object();
    for (unsigned i = 0; i < STARTUP_KINDS; i++)
        json_object_set_new(out, keys[i], number(report->startup.ns[i]));
    json_object_set_new(out, "kernels_launched", json_boolean(report->startup.over));
    return out;
}

static json_t *floor_of(const struct report *report)
{
    json_t *out = json_object();
    json_object_set_new(out, "percent", json_real(report->floor.percent));
    json_object_set_new(out, "least_ns", number(report->floor.ns));
    json_object_set_new(out, "ns", number(floor_ns(report->floor, report->totals.run_ns)));
    json_object_set_new(out, "findings_above", number(report_shown(report)));
    return out;
}

static void add_gap(void *data, const char *line)
{
    json_array_append_new(data, clean_string(line));
}

/* How many operations for each reason; those that there are. */
static json_t *touch_everything(const struct report_totals *totals)
{
    json_t *out = json_object();
    for (unsigned why = PTDS_OPAQUE_NO + 1; why < PTDS_OPAQUE_REASONS; why++)
        if (totals->touch_all[why] != 0)
            json_object_set_new(out, report_touch_everything(why), number(totals->touch_all[why]));
    return out;
}

static json_t *completeness(const struct report *report)
{
    const struct trace *trace = &report->trace;
    json_t *gaps = json_array(), *damages = json_array(), *out = json_object();
    report_gaps(report, add_gap, gaps);
    for (size_t i = 0; i < trace->damages.count; i++)
        json_array_append_new(damages, json_pack("{s:o, s:s}", "offset", number(trace->damages.items[i].offset), "text",
                                                 trace->damages.items[i].text));
    json_object_set_new(out, "gaps", gaps);
    json_object_set_new(out, "lost_records", number(trace->lost));
    json_object_set_new(out, "recycled_chunks", number(trace->header.recycled));
    json_object_set_new(out, "lost_chunks", number(trace->lost_chunks));
    json_object_set_new(out, "unknown_records", number(trace->unknown_records));
    json_object_set_new(out, "gpu_operations", number(report->totals.gpu_operations));
    json_object_set_new(out, "gpu_timed", number(report->totals.gpu_timed));
    json_object_set_new(out, "gpu_times", json_string(report_gpu_times(&report->totals).text));
    json_object_set_new(out, "opaque_operations", number(report->totals.opaque));
    json_object_set_new(out, "touch_everything", touch_everything(&report->totals));
    json_object_set_new(out, "untimed_waits", number(report->totals.untimed_waits));
    json_object_set_new(out, "clean_end", json_boolean(trace->header.clean_end != 0));
    json_object_set_new(out, "damages", damages);
    return out;
}

/* "symbol" for people; "places" for machines, the innermost inlined function first; "trouble" where there can be neither.
 */
static void add_names(json_t *frame, struct site_namer *namer, const struct object_def *object, uint64_t pc)
{
    struct site_place places[8];
    char symbol[256];
    json_t *list = json_array();
    bool detailed = namer != NULL && namer->places != NULL;
    const char *trouble = detailed ? namer->trouble(namer, object) : NULL;
    bool named = namer != NULL && trouble == NULL && (object != NULL || detailed) &&
                 namer->name(namer, object, pc, symbol, sizeof symbol);
    size_t count = detailed ? namer->places(namer, object, pc, places, 8) : 0;
    for (size_t i = 0; i < count; i++) {
        json_t *place = json_object();
        json_object_set_new(place, "function", places[i].function[0] != 0 ? clean_string(places[i].function) : json_null());
        json_object_set_new(place, "file", places[i].file[0] != 0 ? clean_string(places[i].file) : json_null());
        json_object_set_new(place, "line", places[i].line != 0 ? json_integer(places[i].line) : json_null());
        json_object_set_new(place, "inlined", json_boolean(places[i].inlined));
        json_array_append_new(list, place);
    }
    json_object_set_new(frame, "symbol", named ? clean_string(symbol) : json_null());
    json_object_set_new(frame, "places", list);
    json_object_set_new(frame, "trouble", text_or_null(trouble));
}

static json_t *call_site(const struct report *report, struct site_namer *namer, const struct finding *finding)
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    json_t *frames = json_array();
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        const struct object_def *object = definitions_object_at(&report->trace.defs, stack->pc[i]);
        json_t *frame = json_object();
        json_object_set_new(frame, "pc", hex(stack->pc[i]));
        json_object_set_new(frame, "object", text_or_null(object != NULL ? object->text : NULL));
        json_object_set_new(frame, "offset", object != NULL ? hex(stack->pc[i] - object->bias) : json_null());
        add_names(frame, namer, object, stack->pc[i]);
        json_array_append_new(frames, frame);
    }
    return frames;
}

static json_t *values(const struct report *report, const struct finding *finding)
{
    json_t *out = json_object();
    char text[300];
    for (unsigned set = 0; set < FINDING_SETS; set++) {
        const struct finding_ids *ids = &finding->sets[set];
        json_t *list = json_array();
        for (uint32_t i = 0; i < ids->count; i++) {
            report_id(report, (enum finding_set)set, ids->id[i], text, sizeof text);
            json_t *name = clean_string(text);
            json_array_append_new(list, json_pack("{s:o, s:o}", "id", json_integer(ids->id[i]), "name", name));
        }
        json_object_set_new(out, finding_set_names[set], json_pack("{s:o, s:b}", "ids", list, "more", ids->more));
    }
    for (size_t i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++)
        json_object_set_new(out, finding->numbers[i].key, number(finding->numbers[i].value));
    return out;
}

static json_t *since_start(const struct report *report, bool known, uint64_t ticks)
{
    const struct trace *trace = &report->trace;
    known &= trace_has_time(trace);
    return number_or_null(known, ticks > report->start ? trace_ns(trace, ticks - report->start) : 0);
}

static json_t *cost(const struct finding *finding)
{
    json_t *out = json_object();
    json_object_set_new(out, "host_ns", number_or_null(finding->known != 0, finding->host_ns));
    json_object_set_new(out, "host_known_calls", number(finding->known));
    json_object_set_new(out, "host_unknown_calls", number(finding->unknown));
    json_object_set_new(out, "gpu_ns", json_null());
    return out;
}

json_t *report_json_finding(const struct report *report, struct site_namer *namer, const struct finding *finding)
{
    const struct rule *rule = finding->rule;
    struct finding_id place = identity_of_place(&report->trace, namer, finding);
    json_t *out = json_object();
    json_object_set_new(out, "id", json_string(identity_of(&report->trace, finding).text));
    json_object_set_new(out, "place_id", place.text[0] != 0 ? json_string(place.text) : json_null());
    json_object_set_new(out, "rule", json_string(rule->id));
    json_object_set_new(out, "class", json_string(rule->class_));
    json_object_set_new(out, "severity", json_string(severity_names[finding->severity]));
    json_object_set_new(out, "banner", json_boolean(rule->banner));
    json_object_set_new(out, "doubt", json_string(doubt_names[finding->doubt]));
    json_object_set_new(out, "folded", text_or_null(fold_names[finding->fold]));
    json_object_set_new(out, "cause", json_string(opening_cause_name(report, finding)));
    json_object_set_new(out, "pair", pair_or_null(report, finding->has_pair ? &finding->pair : NULL));
    json_object_set_new(out, "case", text_or_null(rule->details != NULL ? rule->details[finding->detail] : NULL));
    json_object_set_new(out, "count", number(finding->count));
    json_object_set_new(out, "cost", cost(finding));
    json_object_set_new(out, "verdicts", report_verdicts_json(report_finding_verdicts(report, finding)));
    json_object_set_new(out, "sequence", number_or_null(finding->sequence != 0, finding->sequence));
    json_object_set_new(out, "first_ns", since_start(report, finding->count != 0, finding->first));
    json_object_set_new(out, "last_ns", since_start(report, finding->count != 0, finding->last));
    json_object_set_new(out, "api", finding->has_api ? json_string(report_api(report, finding)) : json_null());
    json_object_set_new(out, "twin", json_boolean(finding->twin));
    json_object_set_new(out, "object", text_or_null(finding->text));
    json_object_set_new(out, "callsite", call_site(report, namer, finding));
    json_object_set_new(out, "values", values(report, finding));
    json_object_set_new(out, "title", json_string(rule->title));
    json_object_set_new(out, "text", json_string(rule->sentence));
    json_object_set_new(out, "advice", json_string(finding_advice(finding)));
    return out;
}

static json_t *sequences(const struct report *report)
{
    json_t *out = json_array();
    for (size_t i = 0; i < report->sequences.count; i++)
        json_array_append_new(out, json_pack("{s:o, s:o}", "host_ns", number(report->sequences.items[i].host_ns),
                                             "findings", number(report->sequences.items[i].findings)));
    return out;
}

json_t *report_json_completeness(const struct report *report)
{
    return completeness(report);
}

json_t *report_json_meta(const struct report *report)
{
    return meta(report);
}

json_t *report_json_document(const struct report *report, struct site_namer *namer)
{
    json_t *findings = json_array(), *rules = json_array(), *out = json_object();
    for (size_t i = 0; i < report->findings.count; i++)
        json_array_append_new(findings, report_json_finding(report, namer, report->findings.items[i]));
    for (size_t i = 0; i < report->rules; i++)
        if (report->runs[i].rule != NULL)
            json_array_append_new(rules, json_string(report->runs[i].rule->id));
    json_object_set_new(out, "ptds_report_version", json_integer(1));
    json_object_set_new(out, "meta", meta(report));
    json_object_set_new(out, "outcome", outcome(report));
    json_object_set_new(out, "default_stream", default_stream(report));
    json_object_set_new(out, "startup", startup(report));
    json_object_set_new(out, "floor", floor_of(report));
    json_object_set_new(out, "totals", totals(report));
    json_object_set_new(out, "rules", rules);
    json_object_set_new(out, "findings", findings);
    json_object_set_new(out, "edges", report_edges_json(report, namer));
    json_object_set_new(out, "sequences", sequences(report));
    json_object_set_new(out, "completeness", completeness(report));
    return out;
}

static int to_sink(const char *text, size_t size, void *data)
{
    struct text_sink *sink = data;
    sink->write(sink, text, size);
    return 0;
}

int report_json_write(json_t *out, struct text_sink *sink)
{
    int status = out != NULL ? json_dump_callback(out, to_sink, sink, JSON_INDENT(2)) : -1;
    json_decref(out);
    if (status == 0)
        sink->write(sink, "\n", 1);
    return status;
}

int report_json(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    return report_json_write(report_json_document(report, namer), sink);
}
