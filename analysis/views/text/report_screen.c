/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of `ptds report`. Called by the command only. Must keep to its rows and columns whatever the trace says;
 * what does not fit is counted, never dropped silently.
 */
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/report/outcome.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/opening_next.h"
#include "analysis/views/text/screen_put.h"

#include "analysis/views/residual_words.h"
#include "analysis/views/text/screen_list.h"
#include "analysis/views/verdict_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CAUSES = 8,
    MOST_CAUSES_SMALL = 2,
    MOST_GAPS = 3,
    MOST_GAPS_SMALL = 1,
    RESIDUAL_ROWS = 4,
    RESIDUAL_ROWS_SMALL = 2,
    MOST_NEEDED = 2,
    MOST_NEEDED_SMALL = 1,
    NAME_COLUMNS = 34
};

/* A line that two rows may have, where there are some to spare. */
static void put_long(struct screen *screen, const char *lead, unsigned hang, const struct line *text)
{
    screen_put_text(screen, lead, hang, text->text, screen->small ? 1 : 2, false);
}

static void put_banner(struct screen *screen)
{
    struct line line = {0}, banner = report_words_banner(screen->report);
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
    line_add(&line, ", policy %.12s%s: ran %s, %s", report_words_policy(report), report_words_trust(report),
             totals->run_ns != 0 ? text_ns(totals->run_ns).text : "an unknown time",
             text_plural(report->trace.threads, "thread").text);
    screen_put(screen, &line);
    line_add(&line, "%s%s; default stream: %s", text_plural(totals->calls, "driver call").text,
             report->has_counts ? "" : " recorded", text_plural(totals->default_stream, "operation").text);
    if (totals->remapped != 0)
        line_add(&line, ", %s moved, %s kept", text_count(totals->remapped).text, text_count(totals->kept_all).text);
    screen_put(screen, &line);
}

static unsigned put_reason(struct screen *screen, enum residual_kind kind, bool count_only)
{
    return screen_put_text(screen, "  ", 4, residual_words_line(screen->report, kind).text, 2, count_only);
}

/* What of the blocked time no policy removes; of several reasons the costliest, and the rest as one. */
static void put_residual(struct screen *screen)
{
    enum residual_kind kinds[RESIDUAL_KINDS];
    unsigned count = residual_words_ranked(screen->report, kinds), shown = 0;
    unsigned left = screen->small ? RESIDUAL_ROWS_SMALL : RESIDUAL_ROWS;
    struct line line = {0};
    if (count == 0 || screen->brief)
        return;
    line_add(&line, "%s", RESIDUAL_TITLE);
    screen_put(screen, &line);
    for (; shown < count; shown++) {
        unsigned rows = put_reason(screen, kinds[shown], true);
        if (rows + (shown + 1 < count) > left)
            break;
        left -= put_reason(screen, kinds[shown], false);
    }
    line = residual_words_rest(screen->report, kinds + shown, count - shown);
    if (shown < count)
        put_long(screen, "  ", 4, &line);
}

/* The verdict, what the default stream costs, how long threads waited, the start-up. */
static void put_opening(struct screen *screen)
{
    const struct report *report = screen->report;
    struct line line = opening_incomplete(report), second;
    screen_put_blank(screen);
    if (line.used != 0)
        screen_put(screen, &line);
    line = opening_past(report);
    if (line.used != 0 && (!screen->small || outcome_of(report).doubt == DOUBT_NONE)) /* Right is what it limits */
        screen_put(screen, &line);
    line = opening_outcome(report);
    if (outcome_of(report).stuck != NULL)
        put_long(screen, "", 2, &line);
    else
        screen_put(screen, &line);
    if (opening_pair(report, outcome_of(report).pair, &line, &second)) {
        put_long(screen, "  ", 4, &line);
        put_long(screen, "  ", 4, &second);
    }
    line = opening_default_stream(report);
    put_long(screen, "", 2, &line);
    line = report->what_if;
    if (line.used != 0)
        screen_put(screen, &line);
    line = opening_blocked(report);
    put_long(screen, "", 2, &line);
    put_residual(screen);
    line = opening_startup(report);
    if (line.used != 0)
        screen_put(screen, &line);
}

/* How many causes have a line: those that reach the floor, as far as there is room. The last line names the others. */
static size_t causes_shown(const struct screen *screen)
{
    size_t most = (screen->small ? MOST_CAUSES_SMALL : MOST_CAUSES) - 1, above = screen->report->sums.above;
    return above > most ? most : above;
}

static unsigned put_cause_advice(struct screen *screen, bool count_only)
{
    return screen_put_text(screen, "    -> ", 0, opening_advice(screen->report).text, screen->small ? 1 : 2, count_only);
}

/* Rows of what is told in one line a cause. */
static size_t folded_rows(struct screen *screen)
{
    size_t count = screen->report->sums.causes.count, shown = causes_shown(screen);
    return shown == 0 ? count != 0 : 1 + shown + (shown < count) + put_cause_advice(screen, true);
}

/* What nobody would change the program for: by name only. */
static void put_small(struct screen *screen, size_t shown)
{
    struct line line = {0};
    const struct sums *sums = &screen->report->sums;
    if (shown == sums->causes.count)
        return;
    if (shown == 0)
        line_add(&line, "Small, the floor is %s:", opening_floor(screen->report).text);
    else
        line_add(&line, "  and %zu %s:", sums->causes.count - shown, shown < sums->above ? "more" : "below that");
    opening_cause_names(&line, SCREEN_COLUMNS, sums, shown);
    screen_put(screen, &line);
}

static void put_folded(struct screen *screen)
{
    const struct sums *sums = &screen->report->sums;
    struct line line = {0};
    size_t shown = causes_shown(screen);
    if (shown != 0) {
        line_add(&line, "The rest, in one line a cause; the floor is %s:", opening_floor(screen->report).text);
        screen_put(screen, &line);
    }
    for (size_t i = 0; i < shown; i++) {
        line = opening_cause(&sums->causes.items[i]);
        screen_put_text(screen, "  ", 0, line.text, 1, false);
        if (i == 0)
            put_cause_advice(screen, false);
    }
    put_small(screen, shown);
}

static void add_end(const struct screen *screen, const struct edge_end *end, enum access access, struct line *line)
{
    char text[300];
    report_words_id(screen->report, FINDING_THREADS, end->thread, text, sizeof text);
    line_add(line, "%s in thread %.20s", report_words_accessor(screen->report, end, access, NAME_COLUMNS).text, text);
}

/* Of a group of orders that are needed, and have an example: the two operations of it. */
static bool needed_words(const struct screen *screen, size_t at, struct line *first, struct line *second)
{
    const struct edge_group *group = &screen->report->edges.groups.items[at];
    const struct edge_pair *pair = &group->example.pair;
    *first = *second = (struct line){0};
    if (group->example.verdict != VERDICT_NEEDED || pair->first.ticks == 0)
        return false;
    add_end(screen, &pair->first, pair->first_access, first);
    line_add(first, ", then");
    add_end(screen, &pair->second, pair->second_access, second);
    return true;
}

/* How many orders read the same: they differ in their call sites, which have no room here. 0: one before it did. */
static uint64_t needed_alike(const struct screen *screen, size_t at, size_t most)
{
    struct line first, second, one, two;
    uint64_t sum = 0;
    needed_words(screen, at, &first, &second);
    for (size_t i = 0; i < most && needed_words(screen, i, &one, &two); i++) {
        if (strcmp(one.text, first.text) != 0 || strcmp(two.text, second.text) != 0)
            continue;
        if (i < at)
            return 0;
        sum += screen->report->edges.groups.items[i].counts[VERDICT_NEEDED];
    }
    return sum;
}

/* The orders that results need, by an example each: what a remap has to be afraid of. Not where the run's policy keeps
 * them, or where the verdict has shown one. */
static void put_needed(struct screen *screen)
{
    enum { LOOKED_AT = 100 };
    const struct edge_table *edges = &screen->report->edges;
    struct line line = {0}, first, second;
    size_t most = screen->small ? MOST_NEEDED_SMALL : MOST_NEEDED, put = 0;
    size_t groups = edges->groups.count < LOOKED_AT ? edges->groups.count : LOOKED_AT;
    if (!edges->analysed || implicit_order_promised(&screen->report->trace.defs) || outcome_of(screen->report).pair != NULL)
        return;
    for (size_t i = 0; i < groups && put < most && needed_words(screen, i, &first, &second); i++) {
        uint64_t alike = needed_alike(screen, i, groups);
        if (alike == 0)
            continue;
        put++;
        line_add(&line, "  %sx %s", text_count(alike).text, first.text);
        screen_put(screen, &line);
        line_add(&line, "        %s", second.text);
        screen_put(screen, &line);
    }
}

static void put_verdicts(struct screen *screen)
{
    uint64_t verdicts[VERDICTS];
    struct line line = {0};
    line_add(&line, "Implicit orders: %s%s%s", verdict_words_line(verdict_words_all(screen->report, verdicts)).text,
             screen->report->edges.totals.unplaced != 0 ? " on the streams that were followed" : "",
             opening_lost(screen->report).text);
    put_long(screen, "", 2, &line);
    put_needed(screen);
}

/* What could not be analysed: its lines are written, or only counted before the findings take their rows. */
struct gap_lines {
    struct screen *screen;
    unsigned count, most, rows;
    bool count_only;
};

static void put_gap(void *data, const char *text)
{
    struct gap_lines *gaps = data;
    if (gaps->count++ < gaps->most)
        gaps->rows += screen_put_text(gaps->screen, gaps->count == 1 ? "Not analysed: " : "              ", 2, text,
                                      gaps->screen->small ? 1 : 2, gaps->count_only);
}

static struct gap_lines put_gaps(struct screen *screen, bool count_only)
{
    const struct trace *trace = &screen->report->trace;
    struct gap_lines gaps = {
        .screen = screen, .most = screen->small ? MOST_GAPS_SMALL : MOST_GAPS, .count_only = count_only};
    struct line line = {0};
    if (trace->damages.count != 0) {
        line_add(&line, "damage at offset %llu: %s", (unsigned long long)trace->damages.items[0].offset,
                 trace->damages.items[0].text);
        put_gap(&gaps, line.text);
        line = (struct line){0};
    }
    gap_words(screen->report, put_gap, &gaps);
    gaps.rows += gaps.count > gaps.most;
    if (gaps.count <= gaps.most || count_only)
        return gaps;
    line_add(&line, "              and %u more: ptds report --all", gaps.count - gaps.most);
    screen_put(screen, &line);
    return gaps;
}

static void put_next(struct screen *screen)
{
    struct line line = {0}, next = opening_next(screen->report);
    const char *html = ", or --format html -o FILE.html";
    line_add(&line, "Next: %s", next.text);
    if (strncmp(next.text, "ptds report", 11) == 0 && strstr(next.text, "--what-if") == NULL &&
        line.used + strlen(html) <= SCREEN_COLUMNS)
        line_add(&line, "%s", html);
    line_add(&line, "\n");
    screen->sink->write(screen->sink, line.text, line.used); /* whole, whatever the columns */
}

/* Returns how many findings are listed. brief: what still serialises gives them its rows. */
static size_t lay_out(const struct report *report, struct site_namer *namer, unsigned rows, bool brief,
                      struct text_sink *sink)
{
    struct screen screen = {.report = report,
                            .namer = namer,
                            .sink = sink,
                            .rows = rows - 1,
                            .small = rows <= SCREEN_SMALL_ROWS,
                            .brief = brief};
    put_banner(&screen);
    put_head(&screen);
    put_opening(&screen);
    put_verdicts(&screen);
    unsigned after = put_gaps(&screen, true).rows + 1 + (unsigned)folded_rows(&screen) + !screen.small;
    screen_list_findings(&screen, after);
    put_folded(&screen);
    screen_put_blank(&screen);
    put_gaps(&screen, false);
    put_next(&screen);
    return screen.listed;
}

static void write_nothing(struct text_sink *sink, const char *text, size_t size)
{
    (void)sink;
    (void)text;
    (void)size;
}

/* The rows that a large screen has for more of everything must not leave it with fewer findings than a small one has. */
static bool is_better_small(const struct report *report, struct site_namer *namer, unsigned rows)
{
    struct text_sink nowhere = {.write = write_nothing};
    return rows > SCREEN_SMALL_ROWS &&
           lay_out(report, namer, rows, false, &nowhere) < lay_out(report, namer, SCREEN_SMALL_ROWS, false, &nowhere);
}

/* A screen without any finding tells nobody what to mend. */
static bool is_better_brief(const struct report *report, struct site_namer *namer, unsigned rows)
{
    struct text_sink nowhere = {.write = write_nothing};
    return lay_out(report, namer, rows, false, &nowhere) == 0 && lay_out(report, namer, rows, true, &nowhere) != 0;
}

void report_screen(const struct report *report, struct site_namer *namer, unsigned rows, struct text_sink *sink)
{
    rows = rows < SCREEN_LEAST_ROWS ? SCREEN_LEAST_ROWS : rows > SCREEN_MOST_ROWS ? SCREEN_MOST_ROWS : rows;
    if (is_better_small(report, namer, rows))
        rows = SCREEN_SMALL_ROWS;
    lay_out(report, namer, rows, is_better_brief(report, namer, rows), sink);
}
