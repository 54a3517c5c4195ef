/* SPDX-License-Identifier: Apache-2.0
 *
 * Packs operations, their times on the GPU, regions and edges into columns of numbers (packer.h). Called by report_html.c.
 * The order of columns here is what columns_json says.
 */
#include "analysis/views/html/columns.h"

#include <string.h>

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/views/html/region_marks.h"
#include "analysis/views/html/packer.h"
#include "analysis/views/html/page_names.h"
#include "analysis/views/html/page_tables.h"
#include "analysis/views/json/value.h"

/* One column of something: its value for item `at`. */
struct packing {
    struct tables *tables;
    const struct report *report;
    const struct timeline *timeline;
    const struct edge_list *edges;
};

struct column {
    const char *of, *name;
    unsigned bytes;
    uint32_t (*value)(struct packing *packing, uint64_t at);
};

static uint32_t units(const struct packing *packing, uint64_t ns)
{
    double value = (double)ns / packing->tables->unit_ns;
    return value < 4294967295.0 ? (uint32_t)value : UINT32_MAX;
}

static uint64_t ns_from_first(const struct packing *packing, uint64_t ticks)
{
    uint64_t first = packing->tables->first;
    return ticks > first ? trace_ns(&packing->report->trace, ticks - first) : 0;
}

static uint32_t when(const struct packing *packing, uint64_t ticks)
{
    return units(packing, ns_from_first(packing, ticks));
}

#define OP(field) timeline_at(packing->timeline, at)->field
#define EDGE(field) packing->edges->kept.items[at].field

/* The distance to the operation before it, which deflates well. */
static uint32_t op_enter(struct packing *packing, uint64_t at)
{
    uint32_t before = at != 0 ? when(packing, timeline_at(packing->timeline, at - 1)->enter) : 0;
    uint32_t now = when(packing, OP(enter));
    return now > before ? now - before : 0;
}

static uint32_t op_length(struct packing *packing, uint64_t at)
{
    return units(packing, OP(ns));
}

static uint32_t op_lost(struct packing *packing, uint64_t at)
{
    return units(packing, OP(lost_ns));
}

static uint32_t op_thread(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->threads, OP(thread));
}

static uint32_t op_stream(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->streams, OP(stream));
}

static uint32_t op_target(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->streams, OP(target));
}

/* Api 0 is a name too, so they are numbered from 1. */
static uint32_t op_api(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->apis, OP(api) + 1u);
}

static uint32_t op_op(struct packing *packing, uint64_t at)
{
    return OP(op);
}

static uint32_t op_flags(struct packing *packing, uint64_t at)
{
    return OP(flags);
}

static uint32_t op_stack(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->stacks, OP(stack));
}

static uint32_t op_kernel(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->kernels, OP(object));
}

static uint32_t op_finding(struct packing *packing, uint64_t at)
{
    uint32_t serial = OP(serial);
    return serial < packing->tables->rank.count ? packing->tables->rank.items[serial] : 0;
}

static uint32_t run_op(struct packing *packing, uint64_t at)
{
    return packing->tables->runs.items[at];
}

static uint32_t run_start(struct packing *packing, uint64_t at)
{
    const struct timeline_op *op = timeline_at(packing->timeline, run_op(packing, at));
    return units(packing, ns_from_first(packing, op->enter) + op->ran_after_ns);
}

static uint32_t run_length(struct packing *packing, uint64_t at)
{
    return units(packing, timeline_at(packing->timeline, run_op(packing, at))->ran_ns);
}

#define MARK packing->tables->marks.kept.items[at]

static uint32_t region_start(struct packing *packing, uint64_t at)
{
    return when(packing, MARK.begin);
}

static uint32_t region_length(struct packing *packing, uint64_t at)
{
    return when(packing, MARK.end) - region_start(packing, at);
}

static uint32_t region_thread(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->threads, MARK.thread);
}

static uint32_t region_name(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->regions, MARK.name);
}

static uint32_t region_lane(struct packing *packing, uint64_t at)
{
    return MARK.lane;
}

static uint32_t region_flags(struct packing *packing, uint64_t at)
{
    return MARK.flags;
}

static uint32_t edge_kind(struct packing *packing, uint64_t at)
{
    return (uint32_t)EDGE(kind);
}

static uint32_t edge_verdict(struct packing *packing, uint64_t at)
{
    return (uint32_t)EDGE(verdict);
}

static uint32_t edge_reason(struct packing *packing, uint64_t at)
{
    return (uint32_t)EDGE(reason);
}

static uint32_t edge_from(struct packing *packing, uint64_t at)
{
    return when(packing, EDGE(from.ticks));
}

static uint32_t edge_from_thread(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->threads, EDGE(from.thread));
}

static uint32_t edge_from_stream(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->streams, EDGE(from.stream));
}

static uint32_t edge_to(struct packing *packing, uint64_t at)
{
    return when(packing, EDGE(to.ticks));
}

static uint32_t edge_to_thread(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->threads, EDGE(to.thread));
}

static uint32_t edge_to_stream(struct packing *packing, uint64_t at)
{
    return page_names_number(&packing->tables->streams, EDGE(to.stream));
}

enum { PAIRS_MOST = 5000 };

static void add_end(struct line *line, const struct report *report, const struct edge_end *end, enum access access)
{
    char kernel[120] = "";
    if (end->object != 0)
        report_words_id(report, FINDING_KERNELS, end->object, kernel, sizeof kernel);
    line_add(line, "%.60s%s%.60s (thread %u) %s", definitions_api_name(&report->trace.defs, end->api),
             kernel[0] != 0 ? " " : "", kernel, end->thread, report_words_access(access));
}

/* The number of the pair's text, from 1. */
static uint32_t edge_pair(struct packing *packing, uint64_t at)
{
    const struct edge_pair *pair = &EDGE(pair);
    json_t *pairs = packing->tables->pairs;
    if (pair->first.ticks == 0 || json_array_size(pairs) >= PAIRS_MOST)
        return 0;
    struct line line = {0};
    add_end(&line, packing->report, &pair->first, pair->first_access);
    line_add(&line, ", ");
    add_end(&line, packing->report, &pair->second, pair->second_access);
    if (pair->address != 0)
        line_add(&line, " %s", report_words_memory(pair).text);
    if (pair->size != 0)
        line_add(&line, " (%s bytes)", text_count(pair->size).text);
    return json_array_append_new(pairs, value_text(line.text)) == 0 ? (uint32_t)json_array_size(pairs) : 0;
}

static const struct column columns[] = {
    {"op", "enter", 4, op_enter},
    {"op", "length", 4, op_length},
    {"op", "lost", 4, op_lost},
    {"op", "thread", 2, op_thread},
    {"op", "stream", 2, op_stream},
    {"op", "target", 2, op_target},
    {"op", "api", 2, op_api},
    {"op", "op", 1, op_op},
    {"op", "flags", 2, op_flags},
    {"op", "stack", 2, op_stack},
    {"op", "kernel", 2, op_kernel},
    {"op", "finding", 2, op_finding},
    {"run", "op", 4, run_op},
    {"run", "start", 4, run_start},
    {"run", "length", 4, run_length},
    {"region", "start", 4, region_start},
    {"region", "length", 4, region_length},
    {"region", "thread", 2, region_thread},
    {"region", "name", 2, region_name},
    {"region", "lane", 1, region_lane},
    {"region", "flags", 1, region_flags},
    {"edge", "kind", 1, edge_kind},
    {"edge", "verdict", 1, edge_verdict},
    {"edge", "reason", 1, edge_reason},
    {"edge", "from", 4, edge_from},
    {"edge", "fromThread", 2, edge_from_thread},
    {"edge", "fromStream", 2, edge_from_stream},
    {"edge", "to", 4, edge_to},
    {"edge", "toThread", 2, edge_to_thread},
    {"edge", "toStream", 2, edge_to_stream},
    {"edge", "pair", 2, edge_pair},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

json_t *columns_json(void)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < COLUMNS; i++)
        json_array_append_new(out, json_pack("{s:s, s:s, s:i}", "of", columns[i].of, "name", columns[i].name, "bytes",
                                             (int)columns[i].bytes));
    return out;
}

/* Columns begin at multiples of 4 bytes. */
static void put_column(struct packer *packer, const struct column *column, struct packing *packing, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        packer_put(packer, column->value(packing, i), column->bytes);
    for (uint64_t i = count * column->bytes; i % 4 != 0; i++)
        packer_put(packer, 0, 1);
}

/* Edges outside the stretch of the timeline have nothing to be drawn at. */
static bool in_stretch(const struct timeline *timeline, const struct edge *edge)
{
    uint64_t count = timeline_count(timeline);
    return count != 0 && edge->to.ticks >= timeline_at(timeline, 0)->enter &&
           edge->from.ticks <= timeline_at(timeline, count - 1)->enter;
}

static bool pick_edges(struct edge_list *picked, const struct edge_list *edges, const struct timeline *timeline)
{
    *picked = (struct edge_list){0};
    for (size_t i = 0; i < edges->kept.count; i++) {
        if (!in_stretch(timeline, &edges->kept.items[i]))
            continue;
        if (!TABLE_ADD(&picked->kept))
            return false;
        *TABLE_LAST(&picked->kept) = edges->kept.items[i];
    }
    return true;
}

static bool pick_runs(struct tables *tables, const struct timeline *timeline)
{
    for (uint64_t i = 0, count = timeline_count(timeline); i < count; i++) {
        if (timeline_at(timeline, i)->ran_after_ns == TIMELINE_NOT_RAN)
            continue;
        if (!TABLE_ADD(&tables->runs))
            return false;
        *TABLE_LAST(&tables->runs) = (uint32_t)i;
    }
    return true;
}

static uint64_t count_of(const struct packing *packing, const char *of)
{
    return strcmp(of, "op") == 0       ? timeline_count(packing->timeline)
           : strcmp(of, "run") == 0    ? packing->tables->runs.count
           : strcmp(of, "region") == 0 ? packing->tables->marks.kept.count
                                       : packing->edges->kept.count;
}

/* A clock that hardly goes on, which only damage makes, has more of them than there are numbers. */
static uint64_t end_of(const struct timeline_op *op, double ns_a_tick)
{
    double ticks = ns_a_tick > 0 ? (double)op->ns / ns_a_tick : 0;
    return ticks < 1e18 && op->enter < UINT64_MAX / 2 ? op->enter + (uint64_t)ticks : op->enter;
}

/* From the first operation to where the last one ends. */
static void find_marks(const struct packing *packing)
{
    const struct timeline *timeline = packing->timeline;
    uint64_t count = timeline_count(timeline), last = 0;
    if (count == 0)
        return;
    double rate =
        trace_has_time(&packing->report->trace) ? (double)trace_ns(&packing->report->trace, 1u << 30) / (1u << 30) : 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t until = end_of(timeline_at(timeline, i), rate);
        last = until > last ? until : last;
    }
    region_marks_find(&packing->tables->marks, packing->report, packing->tables->first, last);
}

int64_t columns_write(struct tables *tables, const struct report *report, const struct timeline *timeline,
                      const struct edge_list *edges, struct text_sink *sink)
{
    struct packer packer;
    struct edge_list picked;
    struct packing packing = {.tables = tables, .report = report, .timeline = timeline, .edges = &picked};
    int64_t count = -1;
    if (pick_edges(&picked, edges, timeline) && pick_runs(tables, timeline) && packer_begin(&packer, sink)) {
        find_marks(&packing);
        for (unsigned i = 0; i < COLUMNS; i++)
            put_column(&packer, &columns[i], &packing, count_of(&packing, columns[i].of));
        packer_end(&packer);
        count = (int64_t)picked.kept.count;
    }
    edge_list_end(&picked);
    return count;
}
