/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to folded`: a line a call stack of a thread, outermost frame first, with the host time in ns that calls
 * from there lost to waiting. Flame graph tools read it. The first frame is the program, the second the thread. Stacks that
 * read the same are one line. Calls whose loss is not known are not in it, and that is said on stderr.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/export_job.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/report_words.h"

enum { FRAMES_MOST = 128, PLACES_MOST = 8 };

/* Where a call was made from. */
struct origin {
    uint32_t thread, stack, api;
    bool twin;
};

struct weight {
    struct origin of;
    uint32_t next; /* the next one of the same key, counted from 1 */
    uint64_t ns;
    char *text; /* as a line of the output, without its number; NULL so far */
};

struct weights {
    TABLE_OF(struct weight) list;
    struct id_map by_key; /* the first one of a key, counted from 1 */
    bool out_of_memory;
};

static bool same(struct origin one, struct origin two)
{
    return one.thread == two.thread && one.stack == two.stack && one.api == two.api && one.twin == two.twin;
}

/* The weight of an origin, made if new; NULL without memory. */
static struct weight *weight_of(struct weights *weights, struct origin of)
{
    uint64_t key = of.stack ^ (uint64_t)of.thread << 24 ^ (uint64_t)of.api << 48 ^ (uint64_t)of.twin << 63;
    uint32_t first = 0;
    id_map_get(&weights->by_key, key, &first);
    for (uint32_t at = first; at != 0; at = weights->list.items[at - 1].next)
        if (same(weights->list.items[at - 1].of, of))
            return &weights->list.items[at - 1];
    if (!TABLE_ADD(&weights->list) || !id_map_put(&weights->by_key, key, (uint32_t)weights->list.count))
        return NULL;
    *TABLE_LAST(&weights->list) = (struct weight){.of = of, .next = first};
    return TABLE_LAST(&weights->list);
}

static void weigh(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct weights *weights = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    (void)model;
    uint64_t ns = view_blocked_ns(view);
    if (ns == 0)
        return;
    struct origin of = {view->call->thread, call->stack, call->api, (call->flags & PTDS_CALL_TWIN) != 0};
    struct weight *weight = weight_of(weights, of);
    if (weight == NULL)
        weights->out_of_memory = true;
    else
        weight->ns += ns;
}

/* A frame's text must hold neither the separator nor a line's end; numbers go at the end of the line. */
static void put_frame(FILE *out, const char *text)
{
    for (; *text != 0; text++)
        fputc(*text == ';' ? ':' : *text, out);
}

static void put_code(const struct export_job *job, const struct report *report, uint64_t pc, FILE *out)
{
    struct site_place places[PLACES_MOST];
    char text[120];
    size_t count = namer_places(job->namer, &report->trace.defs, pc, places, PLACES_MOST);
    for (size_t i = count; i-- > 0;) {
        fputc(';', out);
        put_frame(out, places[i].function[0] != 0 ? places[i].function : "?");
    }
    if (count != 0)
        return;
    report_words_frame(report, NULL, pc, text, sizeof text);
    fputc(';', out);
    put_frame(out, text);
}

/* "overlap (node1 pid 4242);overlap 2" */
static void put_root(const struct traced *traced, uint32_t thread, FILE *out)
{
    char name[160], row[160];
    traced_name(traced, name, sizeof name);
    report_words_thread(&traced->report, thread, row, sizeof row);
    put_frame(out, text_base(traced->report.trace.header.program));
    fputs(" (", out);
    put_frame(out, name);
    fputs(");", out);
    put_frame(out, row);
}

static void put_stack(const struct export_job *job, const struct traced *traced, struct origin of, FILE *out)
{
    const struct report *report = &traced->report;
    const struct stack_def *stack = of.stack != 0 ? definitions_stack(&report->trace.defs, of.stack) : NULL;
    put_root(traced, of.thread, out);
    for (uint32_t i = stack != NULL ? stack->count : 0; i-- > 0;)
        if (i < FRAMES_MOST)
            put_code(job, report, stack->pc[i], out);
    if (stack == NULL || stack->count == 0)
        fputs(";(call site not recorded)", out);
    fputc(';', out);
    put_frame(out, definitions_api_name(&report->trace.defs, of.api));
    fputs(of.twin ? " (per-thread twin)" : "", out);
}

static char *text_of(const struct export_job *job, const struct traced *traced, struct origin of)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    put_stack(job, traced, of, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct weight *)a)->text, ((const struct weight *)b)->text);
}

static int by_weight(const void *a, const void *b)
{
    const struct weight *one = a, *two = b;
    return one->ns != two->ns ? (one->ns > two->ns ? -1 : 1) : by_text(a, b);
}

/* Writes the texts; then those that read the same are one. */
static void merge_alike(const struct export_job *job, const struct traced *traced, struct weights *weights)
{
    struct weight *items = weights->list.items;
    size_t count = 0;
    for (size_t i = 0; i < weights->list.count; i++) {
        items[count] = items[i];
        items[count].text = text_of(job, traced, items[i].of);
        weights->out_of_memory |= items[count].text == NULL;
        count += items[count].text != NULL;
    }
    weights->list.count = count;
    if (count == 0)
        return;
    qsort(items, count, sizeof *items, by_text);
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (by_text(&items[kept], &items[i]) != 0) {
            items[++kept] = items[i];
            continue;
        }
        items[kept].ns += items[i].ns;
        free(items[i].text);
    }
    weights->list.count = kept + 1;
    qsort(items, weights->list.count, sizeof *items, by_weight);
}

static int fold_process(struct export_job *job, struct traced *traced)
{
    struct weights weights = {.out_of_memory = false};
    struct walker walker = {.call = weigh, .data = &weights};
    int status = export_job_walk(job, traced, &walker, NULL);
    symbolizer_of(job->namer, &traced->report.trace);
    merge_alike(job, traced, &weights);
    for (size_t i = 0; i < weights.list.count; i++) {
        fprintf(job->out, "%s %" PRIu64 "\n", weights.list.items[i].text, weights.list.items[i].ns);
        free(weights.list.items[i].text);
    }
    if (status != 0 || weights.out_of_memory)
        status = export_job_failed(job, "%s: no memory for all of it", traced->path);
    uint64_t unknown = traced->report.totals.untimed_waits;
    if (unknown != 0 || !trace_has_time(&traced->report.trace))
        fprintf(stderr, "ptds export: %s: %s, not in the stacks\n", traced->path,
                unknown != 0 ? "calls that may have waited were not timed" : "the clock cannot be converted");
    free(weights.list.items);
    id_map_free(&weights.by_key);
    return status;
}

int export_folded(struct export_job *job)
{
    for (size_t i = 0; i < job->traces->list.count; i++)
        if (fold_process(job, job->traces->list.items[i]) != 0)
            return -1;
    return 0;
}
