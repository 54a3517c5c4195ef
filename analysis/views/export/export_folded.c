/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export --to folded`: a line a call stack, outermost frame first, with the host time in ns that calls from there
 * lost to waiting. Flame graph tools read it. Calls whose loss is not known are not in it, and that is said on stderr.
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

struct weight {
    uint32_t stack, api;
    bool twin;
    uint64_t ns;
};

struct weights {
    TABLE_OF(struct weight) list;
    struct id_map by_key;
    bool out_of_memory;
};

static void weigh(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct weights *weights = walker->data;
    const struct ptds_rec_CALL *call = &view->call->r;
    bool twin = (call->flags & PTDS_CALL_TWIN) != 0;
    uint64_t key = call->stack | (uint64_t)call->api << 32 | (uint64_t)twin << 48;
    uint32_t at;
    (void)model;
    uint64_t ns = view_blocked_ns(view);
    if (ns == 0)
        return;
    if (!id_map_get(&weights->by_key, key, &at)) {
        at = (uint32_t)weights->list.count;
        if (!TABLE_ADD(&weights->list) || !id_map_put(&weights->by_key, key, at)) {
            weights->out_of_memory = true;
            return;
        }
        *TABLE_LAST(&weights->list) = (struct weight){.stack = call->stack, .api = call->api, .twin = twin};
    }
    weights->list.items[at].ns += ns;
}

/* A frame's text must hold neither the separator nor a line's end; numbers go at the end of the line. */
static void put_frame(FILE *out, const char *text)
{
    for (; *text != 0; text++)
        fputc(*text == ';' ? ':' : *text, out);
}

static void put_code(const struct export_job *job, const struct report *report, uint64_t pc)
{
    struct site_place places[PLACES_MOST];
    char text[120];
    size_t count = namer_places(job->namer, &report->trace.defs, pc, places, PLACES_MOST);
    for (size_t i = count; i-- > 0;) {
        fputc(';', job->out);
        put_frame(job->out, places[i].function[0] != 0 ? places[i].function : "?");
    }
    if (count != 0)
        return;
    report_words_frame(report, NULL, pc, text, sizeof text);
    fputc(';', job->out);
    put_frame(job->out, text);
}

static void put_weight(const struct export_job *job, const struct traced *traced, const struct weight *weight)
{
    const struct report *report = &traced->report;
    const struct stack_def *stack = weight->stack != 0 ? definitions_stack(&report->trace.defs, weight->stack) : NULL;
    char name[160];
    traced_name(traced, name, sizeof name);
    put_frame(job->out, name);
    for (uint32_t i = stack != NULL ? stack->count : 0; i-- > 0;)
        if (i < FRAMES_MOST)
            put_code(job, report, stack->pc[i]);
    if (stack == NULL || stack->count == 0)
        fputs(";(call site not recorded)", job->out);
    fputc(';', job->out);
    put_frame(job->out, definitions_api_name(&report->trace.defs, weight->api));
    fprintf(job->out, "%s %" PRIu64 "\n", weight->twin ? " (per-thread twin)" : "", weight->ns);
}

static int by_weight(const void *a, const void *b)
{
    const struct weight *one = a, *two = b;
    if (one->ns != two->ns)
        return one->ns > two->ns ? -1 : 1;
    return one->stack != two->stack ? (one->stack < two->stack ? -1 : 1) : (one->api > two->api) - (one->api < two->api);
}

static int fold_process(struct export_job *job, struct traced *traced)
{
    struct weights weights = {.out_of_memory = false};
    struct walker walker = {.call = weigh, .data = &weights};
    int status = export_job_walk(job, traced, &walker, NULL);
    symbolizer_of(job->namer, &traced->report.trace);
    if (weights.list.count != 0)
        qsort(weights.list.items, weights.list.count, sizeof *weights.list.items, by_weight);
    for (size_t i = 0; i < weights.list.count; i++)
        put_weight(job, traced, &weights.list.items[i]);
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
