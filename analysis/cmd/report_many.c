/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report` on several traces or on folders of them. Called by report.c. A trace that cannot be read does not keep the
 * others from being reported.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/cmd/report_options.h"
#include "analysis/cmd/terminal.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/repair/repair_words.h"

static void say_trouble(void *verb, const char *line)
{
    fprintf(stderr, "%s: %s\n", (const char *)verb, line);
}

struct taking {
    struct report_watch watch; /* first */
    struct progress progress;
    struct report_watch *also; /* sees each call while traces are built; may be NULL */
};

static void on_call(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial)
{
    struct report_watch *also = ((struct taking *)watch)->also;
    also->call(also, report, view, serial);
}

static void on_progress(struct report_watch *watch, uint64_t done, uint64_t total)
{
    struct progress *progress = &((struct taking *)watch)->progress;
    if (done < total)
        progress_calls(progress, done, total);
    else
        progress_end(progress);
}

static bool take(struct traces *traces, char *verb, char **paths, int count, bool progress, bool later,
                 struct report_watch *also)
{
    static struct taking taking; /* later walks over these traces tell it, too */
    bool sound = true;
    *traces = (struct traces){.trouble = say_trouble, .data = verb, .watch = &taking.watch, .later = later};
    taking.watch.progress = on_progress;
    taking.watch.call = also != NULL ? on_call : NULL;
    taking.also = also;
    progress_begin(&taking.progress, NULL, progress);
    for (int i = 0; i < count && sound; i++) {
        taking.progress.name = paths[i];
        sound = traces_add(traces, paths[i]);
        if (!sound)
            fprintf(stderr, "%s: %s: no memory for the trace\n", verb, paths[i]);
    }
    progress_end(&taking.progress);
    traces->watch = NULL;
    taking.watch.call = NULL;
    traces_order(traces);
    taking.progress.name = traces->list.count == 1 ? paths[0] : verb;
    for (size_t i = 0; i < traces->list.count; i++) {
        traces->list.items[i]->report.walks = &taking.watch;
        say_damage(verb, &traces->list.items[i]->report.trace);
    }
    return sound;
}

bool traces_take(struct traces *traces, char *verb, char **paths, int count, bool progress)
{
    return take(traces, verb, paths, count, progress, false, NULL);
}

bool traces_take_watched(struct traces *traces, char *verb, char **paths, int count, bool progress,
                         struct report_watch *also)
{
    return take(traces, verb, paths, count, progress, false, also);
}

bool traces_take_unmade(struct traces *traces, char *verb, char **paths, int count, bool progress)
{
    return take(traces, verb, paths, count, progress, true, NULL);
}

void say_damage(const char *verb, const struct trace *trace)
{
    if (trace->damaged == 0)
        return;
    unsigned long long offset = trace->damages.count != 0 ? trace->damages.items[0].offset : 0;
    fprintf(stderr, "%s: %s: offset %llu: damaged: %s", verb, trace->source.name, offset,
            trace->damages.count != 0 ? trace->damages.items[0].text : "no memory for more");
    if (trace->damaged > 1)
        fprintf(stderr, " (the first of %llu places)", (unsigned long long)trace->damaged);
    fprintf(stderr, "; what follows is of the rest\n");
}

bool any_damage(const struct traces *traces)
{
    for (size_t i = 0; i < traces->list.count; i++)
        if (traces->list.items[i]->report.trace.damaged != 0)
            return true;
    return false;
}

bool is_many(char **paths, int count)
{
    struct stat status;
    return count > 1 || (count == 1 && stat(paths[0], &status) == 0 && S_ISDIR(status.st_mode));
}

static void write_summaries(const struct traces *traces, struct site_namer *namer, struct text_sink *sink)
{
    for (size_t i = 0; i < traces->list.count; i++) {
        symbols_of(namer, &traces->list.items[i]->report.trace);
        report_summary(&traces->list.items[i]->report, namer, sink);
    }
}

static int write_many(const struct report_options *options, const struct traces *traces, const struct folds *folds,
                      struct timelines *timelines, const struct repairs *repairs, struct site_namer *namer,
                      struct text_sink *sink)
{
    switch (options->form) {
    case FORM_JSON: return many_json_repaired(traces, folds, repairs, namer, sink);
    case FORM_HTML:
        timelines_decide(timelines);
        return report_html_many_repaired(traces, folds, timelines, repairs, namer, sink);
    default:
        if (repairs != NULL) {
            repairs_text(repairs, traces, namer, options->all ? SIZE_MAX : SCREEN_REPAIRS, sink);
            return 0;
        }
        if (options->summary)
            write_summaries(traces, namer, sink);
        else if (options->all)
            many_text(traces, folds, namer, sink);
        else
            many_screen(traces, folds, namer, options->rows, sink);
        return 0;
    }
}

/* The page has the repair, the other forms where it was asked for. */
static int write_repaired(const struct report_options *options, const struct traces *traces, const struct folds *folds,
                          struct timelines *timelines, struct site_namer *namer, struct text_sink *sink)
{
    struct repairs repairs;
    if (!options->repair && options->form != FORM_HTML)
        return write_many(options, traces, folds, timelines, NULL, namer, sink);
    int status = merge_traces_repairs(&repairs, traces, ORDER_PER_THREAD);
    if (status == 0)
        status = write_many(options, traces, folds, timelines, &repairs, namer, sink);
    merge_traces_end(&repairs);
    return status;
}

/* How many traces there will be; some may turn out to be none. */
static size_t expected(char **paths, int count)
{
    size_t all = 0;
    for (int i = 0; i < count; i++)
        all += traces_expected(paths[i]);
    return all;
}

int report_many(const struct report_options *options, struct site_namer *namer, struct text_sink *sink)
{
    char verb[] = "ptds report";
    struct traces traces;
    struct folds folds = {0};
    struct timelines timelines;
    bool page = options->form == FORM_HTML;
    int status = EXIT_UNREADABLE;
    timelines_begin(&timelines, expected(options->traces, options->count));
    timelines.edges = edge_feed_of_build();
    if (traces_take_watched(&traces, verb, options->traces, options->count, options->progress,
                            page ? &timelines.watch : NULL) &&
        traces.list.count != 0) {
        traces_weigh(&traces, options->floor);
        folds_make(&folds, &traces);
        status = EXIT_CLEAN;
        if (options->form == FORM_TEXT && (options->all || options->repair || options->summary) && options->pager)
            pager_begin();
        if (write_repaired(options, &traces, &folds, &timelines, namer, sink) != 0 || folds.out_of_memory) {
            fprintf(stderr, "%s: no memory for the report\n", verb);
            *options->spoilt = true;
        }
        if (*options->spoilt || traces.unreadable != 0 || any_damage(&traces))
            status = EXIT_UNREADABLE;
    }
    timelines_end(&timelines);
    folds_free(&folds);
    traces_free(&traces);
    return status;
}
