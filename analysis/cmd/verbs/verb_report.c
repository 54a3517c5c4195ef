/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report`: traces in, text, JSON or a page out; several traces are report_many.c's. Asking for what is not there (a
 * thread, a finding, a form) is an error, never an empty report.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sink.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/cmd/terminal/pager.h"
#include "analysis/cmd/terminal/progress.h"
#include "analysis/cmd/verbs/report_options.h"
#include "analysis/cmd/verbs/report_many.h"
#include "analysis/cmd/watch/live.h"
#include "analysis/report/edges/edge_feed.h"
#include "analysis/views/html/report_html.h"
#include "analysis/findings/identity.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/json/json_schema.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/whatif_json.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/text/report_details.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_summary.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/text/whatif_text.h"

/* One trace's report being made. `stats` and `timeline` look on, as the form needs them. */
struct making {
    const struct report_options *options;
    struct report report;
    struct progress progress;
    struct call_stats stats;
    struct timeline timeline;
    struct edge_list edges;
    struct recorded recorded;
};

static void stats_progress(struct report_watch *watch, uint64_t done, uint64_t total)
{
    progress_calls(&((struct making *)((char *)watch - offsetof(struct making, stats)))->progress, done, total);
}

/* Of the pass, and of the walk for the page. */
static void timeline_progress(struct report_watch *watch, uint64_t done, uint64_t total)
{
    struct progress *progress = &((struct making *)((char *)watch - offsetof(struct making, timeline)))->progress;
    if (done < total)
        progress_calls(progress, done, total);
    else
        progress_end(progress);
}

/* A finding by rank, or by the beginning of its id. */
static bool find_finding(const struct making *making, size_t *rank)
{
    const char *asked = making->options->finding;
    const struct report *report = &making->report;
    char *end;
    unsigned long number = strtoul(asked, &end, 10);
    if (*end == 0 && strlen(asked) <= 6) {
        *rank = number - 1;
        return number >= 1 && number <= report->findings.count;
    }
    size_t found = 0;
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding_id id = identity_of(&report->trace, report->findings.items[i]);
        if (strncmp(id.text, asked, strlen(asked)) == 0 && found++ == 0)
            *rank = i;
    }
    return found == 1;
}

static int put_finding(const struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    size_t rank = 0;
    if (!find_finding(making, &rank)) {
        fprintf(stderr, "ptds report: %s: no finding \"%s\": it has %zu, numbered from 1, or by id\n",
                making->report.trace.source.name, making->options->finding, making->report.findings.count);
        return -1;
    }
    report_text_finding(&making->report, namer, rank, sink);
    return 0;
}

static void recorded_progress(struct report_watch *watch, uint64_t done, uint64_t total)
{
    progress_calls(&((struct making *)((char *)watch - offsetof(struct making, recorded)))->progress, done, total);
}

static void put_screen(const struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    report_screen(&making->report, namer, making->options->rows, sink);
}

static int put_text(const struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    const struct report_options *options = making->options;
    if (options->pager)
        pager_begin();
    if (options->finding != NULL)
        return put_finding(making, namer, sink);
    if (options->summary)
        report_summary(&making->report, namer, sink);
    else if (!selection_is_all(&options->selection))
        report_details(&making->report, &making->stats, namer, options->all ? SIZE_MAX : SCREEN_FINDINGS, sink);
    else if (options->all)
        report_text(&making->report, namer, sink);
    else
        put_screen(making, namer, sink);
    return 0;
}

static int put_page(struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    struct edge_feed *feed = edge_feed_of_build();
    edge_list_begin(&making->edges);
    making->report.walks = &making->timeline.watch;
    timeline_decide(&making->timeline);
    if (feed != NULL && feed->run(feed, &making->report, &making->edges.sink) != 0)
        return -1;
    struct repair repair;
    int status = repair_of(&repair, &making->report, ORDER_PER_THREAD);
    if (status == 0)
        status = report_html_repaired(&making->report, &making->timeline, &making->edges, &repair, namer, sink);
    repair_end(&repair);
    return status;
}

static int put_what_if(struct making *making, struct text_sink *sink)
{
    struct whatif whatif = whatif_of(&making->report, &making->recorded);
    if (making->options->form == FORM_JSON)
        return whatif_json(&whatif, sink);
    whatif_text(&whatif, sink);
    return 0;
}

static int put_repair(struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    struct repair repair;
    int status = repair_of(&repair, &making->report, ORDER_PER_THREAD);
    if (status == 0 && making->options->form == FORM_JSON)
        status = report_json_repaired(&making->report, &repair, namer, sink);
    else if (status == 0) {
        if (making->options->pager)
            pager_begin();
        repair_text(&making->report, &repair, namer, making->options->all ? SIZE_MAX : SCREEN_REPAIRS, sink);
    }
    repair_end(&repair);
    return status;
}

static int put_report(struct making *making, struct site_namer *namer, struct text_sink *sink)
{
    int status = 0;
    if (making->options->what_if)
        return put_what_if(making, sink);
    symbolizer_of(namer, &making->report.trace);
    if (making->options->form == FORM_TEXT && !making->options->repair)
        return put_text(making, namer, sink);
    if (making->options->repair && making->options->form != FORM_HTML)
        status = put_repair(making, namer, sink);
    else if (making->options->form == FORM_JSON)
        status = report_json(&making->report, namer, sink);
    else
        status = put_page(making, namer, sink);
    if (status != 0)
        fprintf(stderr, "ptds report: %s: no memory for the report\n", making->report.trace.source.name);
    return status;
}

/* Parts of it take another pass over the trace. */
static bool shows_opening(const struct report_options *options)
{
    bool repair = options->repair && options->form != FORM_HTML;
    return !options->what_if && !repair && !options->summary && options->finding == NULL;
}

static int build(struct making *making, const struct trace_source *source)
{
    char error[TRACE_ERROR_SIZE];
    struct report_watch *watch = &making->stats.watch;
    progress_begin(&making->progress, source, making->options->progress);
    report_details_begin(&making->stats);
    timeline_begin(&making->timeline, TIMELINE_MOST);
    recorded_begin(&making->recorded);
    making->recorded.watch.progress = recorded_progress;
    making->stats.watch.progress = stats_progress;
    making->timeline.watch.progress = timeline_progress;
    if (making->options->form == FORM_HTML)
        watch = &making->timeline.watch;
    if (making->options->what_if)
        watch = &making->recorded.watch;
    int status = report_build_watched(&making->report, &making->progress.source, &making->options->selection, watch, error);
    progress_end(&making->progress);
    if (status != 0)
        fprintf(stderr, "ptds report: %s\n", error);
    else
        rank_findings(&making->report, making->options->floor);
    if (status == 0 && shows_opening(making->options)) {
        residual_find(&making->report);
        if (selection_is_all(&making->options->selection))
            whatif_text_opening(&making->report);
    }
    if (status == 0)
        open_traces_say_damage("ptds report", &making->report.trace);
    return status;
}

static int report_one(const struct report_options *options, const char *path, struct site_namer *namer,
                      struct text_sink *sink)
{
    char error[TRACE_ERROR_SIZE];
    struct trace_source source;
    struct making *making = calloc(1, sizeof *making);
    int status = EXIT_UNREADABLE;
    if (making == NULL || trace_source_open(&source, path, error) != 0) {
        fprintf(stderr, "ptds report: %s\n", making != NULL ? error : "no memory");
        free(making);
        return EXIT_UNREADABLE;
    }
    making->options = options;
    live_note(&source);
    if (build(making, &source) == 0) {
        if (put_report(making, namer, sink) != 0)
            *options->spoilt = true;
        else if (open_traces_is_whole(&making->report.trace))
            status = EXIT_CLEAN;
    }
    report_end(&making->report);
    report_details_end(&making->stats);
    timeline_end(&making->timeline);
    edge_list_end(&making->edges);
    recorded_end(&making->recorded);
    trace_source_close(&source);
    free(making);
    return status;
}

static void write_file(struct text_sink *sink, const char *text, size_t size)
{
    fwrite(text, 1, size, sink->data);
}

static bool has_folder(const struct report_options *options)
{
    for (int i = 0; i < options->count; i++)
        if (open_traces_are_many(options->traces + i, 1))
            return true;
    return false;
}

/* Several traces are one report, but for their summaries. */
static int report_all(const struct report_options *options, struct site_namer *namer, struct text_sink *sink)
{
    int worst = EXIT_CLEAN;
    if (options->schema)
        return json_schema(sink) == 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
    if (options->summary ? has_folder(options) : open_traces_are_many(options->traces, options->count))
        return report_many(options, namer, sink);
    for (int i = 0; i < options->count; i++) {
        int status = report_one(options, options->traces[i], namer, sink);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static int run_verb(int argc, char **argv)
{
    struct report_options options;
    struct output_file output;
    bool spoilt = false;
    report_options_parse(&options, argc, argv);
    struct output_inputs inputs = {options.traces, options.count};
    int status = output_file_begin(&output, "ptds report", options.output, inputs, false);
    if (status != EXIT_CLEAN)
        return status;
    options.spoilt = &spoilt;
    output.progress.on &= options.progress;
    options.pager &= output.kind == OUTPUT_STDOUT;
    options.rows = pager_terminal_rows() != 0 ? pager_terminal_rows() : SCREEN_MOST_ROWS;
    struct text_sink sink = {.write = write_file, .data = output.file};
    struct site_namer *namer = symbolizer_begin();
    status = report_all(&options, namer, &sink);
    symbolizer_end(namer);
    bool shown = pager_end(), whole = !spoilt && (status != EXIT_UNREADABLE || output_file_any(&output));
    int placed = output_file_end(&output, whole);
    return shown && placed == EXIT_CLEAN ? status : EXIT_UNREADABLE;
}

const struct verb verb_report = {"report", "what a trace shows", run_verb, &report_options_argp, report_options_values};
