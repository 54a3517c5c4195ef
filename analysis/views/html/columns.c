/* SPDX-License-Identifier: Apache-2.0
 *
 * Packs operations, their times on the GPU and edges into columns of little-endian numbers, deflates them and writes them
 * as base64. Called by page.c. Streams: needs no memory for the packed form. The order of columns here is what columns_json
 * says.
 */
#include <string.h>
#include <zlib.h>

#include "analysis/views/html/page.h"
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
    return names_number(&packing->tables->threads, OP(thread));
}

static uint32_t op_stream(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->streams, OP(stream));
}

static uint32_t op_target(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->streams, OP(target));
}

/* Api 0 is a name too, so they are numbered from 1. */
static uint32_t op_api(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->apis, OP(api) + 1u);
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
    return names_number(&packing->tables->stacks, OP(stack));
}

static uint32_t op_kernel(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->kernels, OP(object));
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
    return names_number(&packing->tables->threads, EDGE(from.thread));
}

static uint32_t edge_from_stream(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->streams, EDGE(from.stream));
}

static uint32_t edge_to(struct packing *packing, uint64_t at)
{
    return when(packing, EDGE(to.ticks));
}

static uint32_t edge_to_thread(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->threads, EDGE(to.thread));
}

static uint32_t edge_to_stream(struct packing *packing, uint64_t at)
{
    return names_number(&packing->tables->streams, EDGE(to.stream));
}

enum { PAIRS_MOST = 5000 };

static void add_end(struct line *line, const struct report *report, const struct edge_end *end, enum access access)
{
    char kernel[120] = "";
    if (end->object != 0)
        report_id(report, FINDING_KERNELS, end->object, kernel, sizeof kernel);
    line_add(line, "%.60s%s%.60s (thread %u) %s", definitions_api_name(&report->trace.defs, end->api),
             kernel[0] != 0 ? " " : "", kernel, end->thread, report_access(access));
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
    line_add(&line, " 0x%llx", (unsigned long long)pair->address);
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
    {"op", "flags", 1, op_flags},
    {"op", "stack", 2, op_stack},
    {"op", "kernel", 2, op_kernel},
    {"op", "finding", 2, op_finding},
    {"run", "op", 4, run_op},
    {"run", "start", 4, run_start},
    {"run", "length", 4, run_length},
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

struct packer {
    z_stream z;
    struct text_sink *sink;
    unsigned char in[1 << 14], out[3 << 12];
    size_t used;
};

static void put_base64(struct packer *packer, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4 << 12];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        uint32_t three =
            (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        text[used++] = digits[three >> 18];
        text[used++] = digits[three >> 12 & 63];
        text[used++] = left > 1 ? digits[three >> 6 & 63] : '=';
        text[used++] = left > 2 ? digits[three & 63] : '=';
    }
    packer->sink->write(packer->sink, text, used);
}

/* The output buffer holds a multiple of three bytes, so that only the last piece has a filler. */
static void deflate_some(struct packer *packer, int flush)
{
    packer->z.next_in = packer->in;
    packer->z.avail_in = (uInt)packer->used;
    int status;
    do {
        status = deflate(&packer->z, flush);
        if (packer->z.avail_out == 0 || status == Z_STREAM_END) {
            put_base64(packer, packer->out, sizeof packer->out - packer->z.avail_out);
            packer->z.next_out = packer->out;
            packer->z.avail_out = sizeof packer->out;
        }
    } while (flush == Z_FINISH ? status != Z_STREAM_END : packer->z.avail_in != 0);
    packer->used = 0;
}

static void put_value(struct packer *packer, uint32_t value, unsigned bytes)
{
    if (packer->used + 4 > sizeof packer->in)
        deflate_some(packer, Z_NO_FLUSH);
    for (unsigned i = 0; i < bytes; i++)
        packer->in[packer->used++] = (unsigned char)(value >> 8 * i);
}

/* Columns begin at multiples of 4 bytes. */
static void put_column(struct packer *packer, const struct column *column, struct packing *packing, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_value(packer, column->value(packing, i), column->bytes);
    for (uint64_t i = count * column->bytes; i % 4 != 0; i++)
        put_value(packer, 0, 1);
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
    return strcmp(of, "op") == 0    ? timeline_count(packing->timeline)
           : strcmp(of, "run") == 0 ? packing->tables->runs.count
                                    : packing->edges->kept.count;
}

int64_t columns_write(struct tables *tables, const struct report *report, const struct timeline *timeline,
                      const struct edge_list *edges, struct text_sink *sink)
{
    struct packer packer = {.sink = sink};
    struct edge_list picked;
    struct packing packing = {.tables = tables, .report = report, .timeline = timeline, .edges = &picked};
    int64_t count = -1;
    if (pick_edges(&picked, edges, timeline) && pick_runs(tables, timeline) && deflateInit(&packer.z, 6) == Z_OK) {
        packer.z.next_out = packer.out;
        packer.z.avail_out = sizeof packer.out;
        for (unsigned i = 0; i < COLUMNS; i++)
            put_column(&packer, &columns[i], &packing, count_of(&packing, columns[i].of));
        deflate_some(&packer, Z_FINISH);
        deflateEnd(&packer.z);
        count = (int64_t)picked.kept.count;
    }
    edge_list_end(&picked);
    return count;
}
