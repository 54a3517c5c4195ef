/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of `ptds report`. Called by the command only. Must keep to its rows and columns whatever the trace says;
 * what does not fit is counted, never dropped silently.
 */
#include "analysis/views/text/screen_parts.h"

#include "analysis/views/residual_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CAUSES = 8,
    MOST_CAUSES_SMALL = 2,
    MOST_GAPS = 3,
    MOST_GAPS_SMALL = 1,
    MOST_RESIDUAL = 4,
    MOST_RESIDUAL_SMALL = 2,
    MOST_NEEDED = 2,
    MOST_NEEDED_SMALL = 1,
    NAME_COLUMNS = 34
};

/* Writes a line that fits. */
void screen_put(struct screen *screen, struct line *line)
{
    line_fit(line, SCREEN_COLUMNS);
    screen->sink->write(screen->sink, line->text, line->used);
    screen->sink->write(screen->sink, "\n", 1);
    screen->rows -= screen->rows != 0;
    *line = (struct line){0};
}

void screen_put_blank(struct screen *screen)
{
    struct line line = {0};
    if (!screen->small)
        screen_put(screen, &line);
}

static void put_banner(struct screen *screen)
{
    struct line line = {0}, banner = report_banner(screen->report);
    if (banner.used == 0)
        return;
    line_add(&line, "!! %s", banner.text);
    screen_put(screen, &line);
}

static void put_head(struct screen *screen)
{
    const struct report *report = screen->report;
    const struct report_totals *totals = &report->totals;
    const struct ptds_trace_header *header = &report->trace.header;
    struct line line = {0};
    line_add(&line, "%.30s, pid %u", text_base(header->program), header->pid);
    if (header->rank >= 0)
        line_add(&line, ", rank %d", header->rank);
    line_add(&line, ", policy %.12s: ran %s, %s", report_policy(report),
             totals->run_ns != 0 ? text_ns(totals->run_ns).text : "an unknown time",
             text_plural(report->trace.threads, "thread").text);
    screen_put(screen, &line);
    line_add(&line, "%s%s; default stream: %s", text_plural(totals->calls, "driver call").text,
             report->has_counts ? "" : " recorded", text_plural(totals->default_stream, "operation").text);
    if (totals->remapped != 0)
        line_add(&line, ", %s remapped, %s kept", text_count(totals->remapped).text, text_count(totals->kept_all).text);
    screen_put(screen, &line);
}

static void put_indented(struct screen *screen, const struct line *text)
{
    struct line line = {0};
    line_add(&line, "  %s", text->text);
    screen_put(screen, &line);
}

/* What of the blocked time no policy removes; of several reasons the costliest, and the rest as one. */
static void put_residual(struct screen *screen)
{
    enum residual_kind kinds[RESIDUAL_KINDS];
    unsigned count = residual_ranked(screen->report, kinds), most = screen->small ? MOST_RESIDUAL_SMALL : MOST_RESIDUAL;
    unsigned shown = count > most ? most - 1 : count;
    struct line line = {0};
    if (count == 0)
        return;
    line_add(&line, "%s", RESIDUAL_TITLE);
    screen_put(screen, &line);
    for (unsigned i = 0; i < shown; i++) {
        line = residual_line(screen->report, kinds[i]);
        put_indented(screen, &line);
    }
    line = residual_rest(screen->report, kinds + shown, count - shown);
    if (shown < count)
        put_indented(screen, &line);
}

/* The verdict, what the default stream costs, how long threads waited, the start-up. */
static void put_opening(struct screen *screen)
{
    const struct report *report = screen->report;
    struct line line = opening_incomplete(report), second;
    screen_put_blank(screen);
    if (line.used != 0)
        screen_put(screen, &line);
    line = opening_outcome(report);
    screen_put(screen, &line);
    if (opening_pair(report, report_outcome(report).pair, &line, &second)) {
        put_indented(screen, &line);
        put_indented(screen, &second);
    }
    line = opening_default_stream(report);
    screen_put(screen, &line);
    line = report->what_if;
    if (line.used != 0)
        screen_put(screen, &line);
    line = opening_blocked(report);
    screen_put(screen, &line);
    put_residual(screen);
    line = opening_startup(report);
    if (line.used != 0)
        screen_put(screen, &line);
}

/* Rows of what is told in one line a cause. */
static size_t folded_rows(const struct screen *screen)
{
    size_t most = screen->small ? MOST_CAUSES_SMALL : MOST_CAUSES, count = screen->report->sums.causes.count;
    return count == 0 ? 0 : 1 + (count > most ? most : count);
}

static void put_folded(struct screen *screen)
{
    const struct sums *sums = &screen->report->sums;
    struct line line = {0};
    size_t rows = folded_rows(screen), count = sums->causes.count;
    if (rows == 0)
        return;
    size_t shown = rows - 1, left = shown < count ? shown - 1 : count;
    line_add(&line, "The rest, in one line a cause; the floor is %s:", opening_floor(screen->report).text);
    screen_put(screen, &line);
    for (size_t i = 0; i < left; i++) {
        line = opening_cause(&sums->causes.items[i]);
        put_indented(screen, &line);
    }
    line = (struct line){0};
    if (left == count)
        return;
    line_add(&line, "  and %zu more:", count - left);
    opening_cause_names(&line, SCREEN_COLUMNS, sums, left);
    screen_put(screen, &line);
}

static void add_end(const struct screen *screen, const struct edge_end *end, enum access access, struct line *line)
{
    char text[300];
    report_id(screen->report, FINDING_THREADS, end->thread, text, sizeof text);
    line_add(line, "%s in thread %.20s", report_accessor(screen->report, end, access, NAME_COLUMNS).text, text);
}

/* The orders that results need, by an example each: what a remap has to be afraid of. Not where the run's policy keeps
 * them, or where the verdict has shown one. */
static void put_needed(struct screen *screen)
{
    const struct edge_table *edges = &screen->report->edges;
    struct line line = {0};
    size_t most = screen->small ? MOST_NEEDED_SMALL : MOST_NEEDED;
    if (order_promised(&screen->report->trace.defs) || report_outcome(screen->report).pair != NULL)
        return;
    for (size_t i = 0; edges->analysed && i < edges->groups.count && i < most; i++) {
        const struct edge_group *group = &edges->groups.items[i];
        const struct edge_pair *pair = &group->example.pair;
        if (group->example.verdict != VERDICT_NEEDED || pair->first.ticks == 0)
            return;
        line_add(&line, "  %sx ", text_count(group->counts[VERDICT_NEEDED]).text);
        add_end(screen, &pair->first, pair->first_access, &line);
        line_add(&line, ", then");
        screen_put(screen, &line);
        line_add(&line, "        ");
        add_end(screen, &pair->second, pair->second_access, &line);
        screen_put(screen, &line);
    }
}

static void put_verdicts(struct screen *screen)
{
    uint64_t verdicts[VERDICTS];
    struct line line = {0};
    line_add(&line, "Implicit orders: %s%s", report_verdicts(report_all_verdicts(screen->report, verdicts)).text,
             opening_lost(screen->report).text);
    screen_put(screen, &line);
    put_needed(screen);
}

/* Rows for what comes after the findings: gaps, their title and the next command. */
struct gap_lines {
    struct screen *screen;
    unsigned count, most;
};

static void count_gap(void *data, const char *text)
{
    (void)text;
    ((struct gap_lines *)data)->count++;
}

static void put_gap(void *data, const char *text)
{
    struct gap_lines *gaps = data;
    struct line line = {0};
    if (gaps->count++ < gaps->most) {
        line_add(&line, "%s %s", gaps->count == 1 ? "Not analysed:" : "             ", text);
        screen_put(gaps->screen, &line);
    }
}

static unsigned gap_rows(const struct screen *screen, struct gap_lines *gaps)
{
    *gaps = (struct gap_lines){.most = screen->small ? MOST_GAPS_SMALL : MOST_GAPS};
    report_gaps(screen->report, count_gap, gaps);
    gaps->count += screen->report->trace.damages.count != 0;
    return gaps->count > gaps->most ? gaps->most + 1 : gaps->count;
}

static void put_gaps(struct screen *screen)
{
    const struct trace *trace = &screen->report->trace;
    struct gap_lines gaps = {.screen = screen, .most = screen->small ? MOST_GAPS_SMALL : MOST_GAPS};
    struct line line = {0};
    if (trace->damages.count != 0) {
        line_add(&line, "damage at offset %llu: %s", (unsigned long long)trace->damages.items[0].offset,
                 trace->damages.items[0].text);
        put_gap(&gaps, line.text);
        line = (struct line){0};
    }
    report_gaps(screen->report, put_gap, &gaps);
    if (gaps.count <= gaps.most)
        return;
    line_add(&line, "              and %u more: ptds report --all", gaps.count - gaps.most);
    screen_put(screen, &line);
}

static void put_next(struct screen *screen)
{
    struct line line = {0}, next = opening_next(screen->report, report_file(screen->report));
    const char *html = ", or --format html -o FILE.html";
    line_add(&line, "Next: %s", next.text);
    if (strncmp(next.text, "ptds report", 11) == 0 && line.used + strlen(html) <= SCREEN_COLUMNS)
        line_add(&line, "%s", html);
    screen_put(screen, &line);
}

void report_screen(const struct report *report, struct site_namer *namer, unsigned rows, struct text_sink *sink)
{
    rows = rows < SCREEN_LEAST_ROWS ? SCREEN_LEAST_ROWS : rows > SCREEN_MOST_ROWS ? SCREEN_MOST_ROWS : rows;
    struct screen screen = {.report = report, .namer = namer, .sink = sink, .rows = rows - 1, .small = rows < 32};
    struct gap_lines gaps;
    put_banner(&screen);
    put_head(&screen);
    put_opening(&screen);
    put_verdicts(&screen);
    unsigned after = gap_rows(&screen, &gaps) + 1 + (unsigned)folded_rows(&screen) + !screen.small;
    screen_put_findings(&screen, after);
    put_folded(&screen);
    screen_put_blank(&screen);
    put_gaps(&screen);
    put_next(&screen);
}
