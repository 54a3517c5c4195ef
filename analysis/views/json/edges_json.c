/* SPDX-License-Identifier: Apache-2.0
 *
 * Implicit edges as JSON. Called by report_json.c; keys are for machines and are never renamed.
 */
#include "analysis/views/json/edges_json.h"

#include <stdio.h>
#include <string.h>

static const char *const verdict_keys[VERDICTS] = {"false", "load_bearing", "unknown"};
static const char *const kind_keys[EDGE_KINDS] = {"fan_in", "fan_out", "fifo", "host"};
static const char *const reason_keys[VERDICT_REASONS] = {"none", "opaque", "access", "extent", "race", "lost", "limit"};
static const char *const access_keys[] = {NULL, "read", "write", "unknown"};

static json_t *number(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *counts_json(const uint64_t counts[VERDICTS])
{
    json_t *out = json_object();
    for (unsigned i = 0; i < VERDICTS; i++)
        json_object_set_new(out, verdict_keys[i], number(counts[i]));
    return out;
}

json_t *report_verdicts_json(const uint64_t *counts)
{
    return counts != NULL ? counts_json(counts) : json_null();
}

static json_t *id_json(const struct report *report, enum finding_set set, uint32_t id)
{
    char text[300], clean[400];
    if (id == 0)
        return json_null();
    report_id(report, set, id, text, sizeof text);
    text_clean(clean, sizeof clean, text, strlen(text));
    return json_pack("{s:i, s:s}", "id", (int)id, "name", clean);
}

static json_t *end_json(const struct report *report, struct site_namer *namer, const struct edge_end *end)
{
    const struct api_def *api = definitions_api(&report->trace.defs, end->api);
    char site[400], clean[500];
    json_t *out = json_object();
    json_object_set_new(out, "api", api != NULL && api->text != NULL ? json_string(api->text) : json_null());
    json_object_set_new(out, "stack", end->stack != 0 ? number(end->stack) : json_null());
    bool named = report_site(report, namer, end->stack, site, sizeof site);
    if (named)
        text_clean(clean, sizeof clean, site, strlen(site));
    json_object_set_new(out, "site", named ? json_string(clean) : json_null());
    json_object_set_new(out, "thread", id_json(report, FINDING_THREADS, end->thread));
    json_object_set_new(out, "stream", id_json(report, FINDING_STREAMS, end->stream));
    json_object_set_new(out, "kernel", id_json(report, FINDING_KERNELS, end->object));
    json_object_set_new(out, "ticks", number(end->ticks));
    return out;
}

static json_t *accessor_json(const struct report *report, struct site_namer *namer, const struct edge_end *end,
                             enum access access)
{
    json_t *out = end_json(report, namer, end);
    json_object_set_new(out, "access", access != 0 ? json_string(access_keys[access & 3]) : json_null());
    return out;
}

static json_t *pair_json(const struct report *report, struct site_namer *namer, const struct edge *edge)
{
    const struct edge_pair *pair = &edge->pair;
    char address[24];
    if (edge->verdict == VERDICT_FALSE || pair->first_access == 0)
        return json_null();
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)pair->address);
    json_t *out = json_object();
    json_object_set_new(out, "first", accessor_json(report, namer, &pair->first, pair->first_access));
    json_object_set_new(out, "second", accessor_json(report, namer, &pair->second, pair->second_access));
    json_object_set_new(out, "address", pair->address != 0 ? json_string(address) : json_null());
    json_object_set_new(out, "size", pair->size != 0 ? number(pair->size) : json_null());
    json_object_set_new(out, "allocation", pair->allocation != 0 ? number(pair->allocation) : json_null());
    return out;
}

static json_t *group_json(const struct report *report, struct site_namer *namer, const struct edge_group *group)
{
    const struct edge *edge = &group->example;
    json_t *out = counts_json(group->counts);
    json_object_set_new(out, "kind", json_string(kind_keys[edge->kind]));
    json_object_set_new(out, "from", end_json(report, namer, &edge->from));
    json_object_set_new(out, "to", end_json(report, namer, &edge->to));
    json_object_set_new(out, "pair", pair_json(report, namer, edge));
    bool unknown = edge->verdict == VERDICT_UNKNOWN;
    json_object_set_new(out, "reason", unknown ? json_string(reason_keys[edge->reason]) : json_null());
    return out;
}

json_t *report_edges_json(const struct report *report, struct site_namer *namer)
{
    const struct edge_table *edges = &report->edges;
    uint64_t counts[VERDICTS], total = 0;
    if (!edges->analysed)
        return json_null();
    json_t *kinds = json_object(), *reasons = json_object(), *groups = json_array(), *out = json_object();
    for (unsigned i = 0; i < VERDICTS; i++)
        total += counts[i] = edge_table_count(edges, (enum verdict)i);
    for (unsigned i = 0; i < EDGE_KINDS; i++)
        json_object_set_new(kinds, kind_keys[i], counts_json(edges->counts[i]));
    for (unsigned i = 1; i < VERDICT_REASONS; i++)
        json_object_set_new(reasons, reason_keys[i], number(edges->reasons[i]));
    for (size_t i = 0; i < edges->groups.count; i++)
        json_array_append_new(groups, group_json(report, namer, &edges->groups.items[i]));
    json_object_set_new(out, "total", number(total));
    json_object_set_new(out, "by_verdict", counts_json(counts));
    json_object_set_new(out, "by_kind", kinds);
    json_object_set_new(out, "by_reason", reasons);
    json_object_set_new(out, "groups", groups);
    json_object_set_new(out, "ungrouped", number(edges->ungrouped));
    json_object_set_new(out, "unordered_conflicts", number(edges->totals.races));
    json_object_set_new(out, "possible_unordered_conflicts", number(edges->totals.possible_races));
    json_object_set_new(out, "forgotten_accesses", number(edges->totals.dropped));
    return out;
}
