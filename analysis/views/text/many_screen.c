/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of `ptds report` on several traces, a folder of a hundred as well as two ranks. Called by the command.
 * Must fit into SCREEN_LEAST_ROWS; what does not is counted, and said by `ptds report --all`.
 */
#include "analysis/views/text/many_screen.h"

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/views/text/many_text.h"

#include <stdio.h>
#include <string.h>

#include "analysis/symbols/symbolizer.h"
#include "analysis/views/file_word.h"
#include "analysis/views/opening_many.h"
#include "analysis/views/text/screen_put.h"
#include "analysis/views/verdict_words.h"

enum { MOST_DOUBTS = 3 };

static void add_process(const struct traces *traces, size_t at, struct line *line)
{
    const struct traced *traced = traces->list.items[at];
    line_add(line, "%.32s (pid %u)", text_base(traced->report.trace.header.program), traced->report.trace.header.pid);
}

static void put_head(struct screen *screen, const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    struct small_text least = text_ns(runs->shortest_ns), most = text_ns(runs->longest_ns);
    bool alike = strcmp(least.text, most.text) == 0;
    line_add(&line, "%zu process%s, ran %s", traces->list.count, traces->list.count == 1 ? "" : "es",
             runs->longest_ns != 0 ? least.text : "an unknown time");
    if (!alike)
        line_add(&line, " to %s", most.text);
    line_add(&line, "%s", traces->list.count != 1 ? " each" : "");
    if (traces->unreadable != 0)
        line_add(&line, "; %s could not be read", text_plural(traces->unreadable, "trace").text);
    screen_put(screen, &line);
    screen_put_blank(screen);
    screen_put_text(screen, "", 2, opening_outcomes(runs).text, 2, false);
}

/* The runs that are in doubt, the wrong ones first. */
static void put_doubts(struct screen *screen, const struct traces *traces)
{
    struct line line = {0};
    unsigned put = 0;
    for (enum doubt doubt = DOUBT_WRONG; doubt != DOUBT_NONE; doubt--)
        for (size_t i = 0; i < traces->list.count; i++) {
            const struct report *report = &traces->list.items[i]->report;
            struct outcome outcome = outcome_of(report);
            if (outcome.doubt != doubt || put++ >= MOST_DOUBTS)
                continue;
            line_add(&line, "  %s: ", outcome_words[doubt]);
            add_process(traces, i, &line);
            line_add(&line, ", %s", outcome.finding->rule->id);
            screen_put(screen, &line);
        }
    if (put > MOST_DOUBTS) {
        line_add(&line, "  and %u more", put - MOST_DOUBTS);
        screen_put(screen, &line);
    }
}

static void put_costs(struct screen *screen, const struct traces *traces, const struct runs *runs)
{
    struct line line = opening_many_default_streams(traces, runs);
    screen_put(screen, &line);
    line = opening_many_blocked(traces, runs);
    screen_put(screen, &line);
    line = opening_many_startup(runs);
    if (line.used != 0)
        screen_put(screen, &line);
}

static void put_finding(struct screen *screen, const struct traces *traces, const struct folded *folded, size_t number)
{
    const struct finding *finding = folded->finding;
    const struct report *report = &traces->list.items[folded->process]->report;
    struct line line = {0};
    char text[400];
    line_add(&line, "#%-3zu %-24s %9s %8s  %s, %zu process%s", number, finding->rule->id,
             folded->known != 0 ? text_ns(folded->host_ns).text : "unknown", report_words_times(folded->count).text,
             severity_names[finding->severity], folded->shares.count, folded->shares.count == 1 ? "" : "es");
    screen_put(screen, &line);
    symbolizer_of(screen->namer, &report->trace);
    line_add(&line, "      %s", finding->text != NULL ? finding->text : report_words_api(report, finding));
    if (report_words_site(report, screen->namer, finding->stack, text, sizeof text))
        line_add(&line, " at %s", text);
    screen_put(screen, &line);
}

/* Two rows each: with all else that there may be they always fit. */
static void put_findings(struct screen *screen, const struct traces *traces, const struct folds *folds)
{
    size_t shown = 0;
    struct line line = {0};
    while (shown < folds->list.count && folds->list.items[shown].shown)
        shown++;
    size_t put = shown < SCREEN_FINDINGS ? shown : SCREEN_FINDINGS;
    screen_put_blank(screen);
    if (put != 0)
        line_add(&line, "Findings: %zu of %zu%s", put, folds->list.count, put < folds->list.count ? "; all: --all" : "");
    else if (folds->list.count != 0)
        line_add(&line, "Findings: none of %zu is worth a line of its own; all: --all", folds->list.count);
    else
        line = opening_many_nothing_found(traces, &folds->runs);
    screen_put(screen, &line);
    for (size_t i = 0; i < put; i++)
        put_finding(screen, traces, &folds->list.items[i], i + 1);
}

/* One line: how many are told by cause alone, and which causes. */
static void put_folded(struct screen *screen, const struct folds *folds)
{
    struct line line = {0};
    size_t folded = 0;
    for (size_t i = 0; i < folds->sums.causes.count; i++)
        folded += folds->sums.causes.items[i].sum.findings;
    if (folded == 0)
        return;
    line_add(&line, "%zu more, each small or inside a library:", folded);
    opening_cause_names(&line, SCREEN_COLUMNS, &folds->sums, 0);
    screen_put(screen, &line);
}

static void put_next(struct screen *screen, const struct traces *traces, const struct folds *folds, const struct runs *runs)
{
    struct line line = {0};
    size_t telling = runs->gains != 0 ? runs->most : 0;
    if (folds->list.count != 0 && folds->list.items[0].shown)
        telling = folds->list.items[0].process;
    for (size_t i = traces->list.count; i-- > 0;)
        if (outcome_of(&traces->list.items[i]->report).doubt == DOUBT_WRONG)
            telling = i;
    line_add(&line, "Next: ptds report%s", file_word(&traces->list.items[telling]->report).text);
    line_add_whole(&line, SCREEN_COLUMNS, ", or all processes with --all");
    line_add(&line, "\n");
    screen->sink->write(screen->sink, line.text, line.used); /* whole, whatever the columns */
}

void many_screen(const struct traces *traces, const struct folds *folds, struct site_namer *namer, unsigned rows,
                 struct text_sink *sink)
{
    struct screen screen = {.namer = namer, .sink = sink, .small = rows <= SCREEN_SMALL_ROWS};
    const struct runs *runs = &folds->runs;
    put_head(&screen, traces, runs);
    put_doubts(&screen, traces);
    put_costs(&screen, traces, runs);
    put_findings(&screen, traces, folds);
    put_folded(&screen, folds);
    screen_put_blank(&screen);
    put_next(&screen, traces, folds, runs);
}
