/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report` on several traces or on folders of them. Called by verb_report.c. A trace that cannot be read does not keep
 * the others from being reported.
 */
#include "analysis/cmd/verbs/report_many.h"

#include <stdio.h>
#include <sys/stat.h>

#include "analysis/base/sink.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/cmd/terminal/pager.h"
#include "analysis/cmd/verbs/report_options.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/text/report_summary.h"

static void write_summaries(const struct traces *traces, struct site_namer *namer, struct text_sink *sink)
{
    for (size_t i = 0; i < traces->list.count; i++) {
        symbolizer_of(namer, &traces->list.items[i]->report.trace);
        report_summary(&traces->list.items[i]->report, namer, sink);
    }
}

static int write_many(const struct report_options *options, const struct traces *traces, const struct folds *folds,
                      struct timelines *timelines, const struct repairs *repairs, struct site_namer *namer,
                      struct text_sink *sink)
{
    switch (options->form) {
    case FORM_JSON: return report_json_many_repaired(traces, folds, repairs, namer, sink);
    case FORM_HTML:
        timelines_decide(timelines);
        return report_html_many_repaired(traces, folds, timelines, repairs, namer, sink);
    default:
        if (repairs != NULL) {
            repair_text_many(repairs, traces, namer, options->all ? SIZE_MAX : SCREEN_REPAIRS, sink);
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
    if (open_traces_watched(&traces, verb, options->traces, options->count, options->progress,
                            page ? &timelines.watch : NULL) &&
        traces.list.count != 0) {
        traces_weigh(&traces, options->floor);
        fold_make(&folds, &traces);
        status = EXIT_CLEAN;
        if (options->form == FORM_TEXT && (options->all || options->repair || options->summary) && options->pager)
            pager_begin();
        if (write_repaired(options, &traces, &folds, &timelines, namer, sink) != 0 || folds.out_of_memory) {
            fprintf(stderr, "%s: no memory for the report\n", verb);
            *options->spoilt = true;
        }
        if (*options->spoilt || traces.unreadable != 0 || open_traces_any_damage(&traces))
            status = EXIT_UNREADABLE;
    }
    timelines_end(&timelines);
    fold_free(&folds);
    traces_free(&traces);
    return status;
}
