/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of `ptds report`. Called by the command only. Must keep to its rows and columns whatever the trace says;
 * what does not fit is counted, never dropped silently.
 */
#include "analysis/views/text/screen_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CLASSES = 8,
    MOST_CLASSES_SMALL = 4,
    MOST_GAPS = 3,
    MOST_GAPS_SMALL = 1,
    MOST_NEEDED = 2,
    MOST_NEEDED_SMALL = 1
};

/* Writes a line, cut at the screen's edge and not inside a UTF-8 sequence. */
void screen_put(struct screen *screen, struct line *line)
{
    size_t size = line->used;
    if (size > SCREEN_COLUMNS) {
        size = SCREEN_COLUMNS;
        while (size > 0 && ((unsigned char)line->text[size] & 0xc0) == 0x80)
            size--;
    }
    screen->sink->write(screen->sink, line->text, size);
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

unsigned screen_percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (unsigned)((double)part * 100 / (double)whole + 0.5) : 0;
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
    uint64_t kept = 0;
    line_add(&line, "%.30s, pid %u", text_base(header->program), header->pid);
    if (header->rank >= 0)
        line_add(&line, ", rank %d", header->rank);
    line_add(&line, ", policy %.12s: ran %s, %u thread%s", report_policy(report),
             totals->run_ns != 0 ? text_ns(totals->run_ns).text : "an unknown time", report->trace.threads,
             report->trace.threads == 1 ? "" : "s");
    screen_put(screen, &line);
    for (unsigned i = 0; i < KEPT_REASONS; i++)
        kept += totals->kept[i];
    line_add(&line, "%s driver calls%s; default stream: %s operations, %s remapped, %s kept",
             text_count(totals->calls).text, report->has_counts ? "" : " recorded", text_count(totals->default_stream).text,
             text_count(totals->remapped).text, text_count(kept).text);
    screen_put(screen, &line);
}

struct by_class {
    const struct rule *rule;
    uint64_t count, host_ns, known;
    size_t findings;
};

static int by_cost(const void *a, const void *b)
{
    const struct by_class *one = a, *two = b;
    if (one->host_ns != two->host_ns)
        return one->host_ns > two->host_ns ? -1 : 1;
    return one->count != two->count ? (one->count > two->count ? -1 : 1) : strcmp(one->rule->id, two->rule->id);
}

static size_t classes(const struct report *report, struct by_class classes[RULES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        size_t at = 0;
        while (at < count && classes[at].rule != finding->rule)
            at++;
        if (at == count)
            classes[count++] = (struct by_class){.rule = finding->rule};
        classes[at].count += finding->count;
        classes[at].findings++;
        classes[at].known += finding->known;
        if (__builtin_add_overflow(classes[at].host_ns, finding->host_ns, &classes[at].host_ns))
            classes[at].host_ns = UINT64_MAX;
    }
    if (count != 0)
        qsort(classes, count, sizeof classes[0], by_cost);
    return count;
}

static void put_classes(struct screen *screen)
{
    struct by_class all[RULES_MOST];
    struct line line = {0};
    size_t count = classes(screen->report, all), most = screen->small ? MOST_CLASSES_SMALL : MOST_CLASSES;
    size_t shown = count <= most ? count : most - 1;
    screen_put_blank(screen);
    line_add(&line, "Host time lost: %-10s %5s %9s %10s %6s", report_host_time(screen->report).text, "class", "lost",
             "calls", "sites");
    screen_put(screen, &line);
    for (size_t i = 0; i < shown; i++) {
        line_add(&line, "  %-24.24s %5s %9s %10s %6s", all[i].rule->id, all[i].rule->class_,
                 all[i].known != 0 ? text_ns(all[i].host_ns).text : "unknown", text_count(all[i].count).text,
                 text_count(all[i].findings).text);
        if (all[i].known != 0 && screen->report->totals.host_ns != 0)
            line_add(&line, "  %3u %%", screen_percent(all[i].host_ns, screen->report->totals.host_ns));
        screen_put(screen, &line);
    }
    if (shown == count)
        return;
    line_add(&line, "  and %zu more:", count - shown);
    for (size_t i = shown; i < count; i++)
        line_add(&line, " %s", all[i].rule->id);
    screen_put(screen, &line);
}

static void add_end(const struct screen *screen, const struct edge_end *end, enum access access, struct line *line)
{
    const struct api_def *api = definitions_api(&screen->report->trace.defs, end->api);
    char text[300];
    if (end->object != 0) {
        report_id(screen->report, FINDING_KERNELS, end->object, text, sizeof text);
        line_add(line, "%.34s", text_function(text).text);
    } else {
        line_add(line, "%.34s", api != NULL && api->text != NULL ? api->text : "(unnamed call)");
    }
    report_id(screen->report, FINDING_THREADS, end->thread, text, sizeof text);
    line_add(line, " %s in thread %.20s",
             access == ACCESS_WRITE  ? "writes"
             : access == ACCESS_READ ? "reads"
                                     : "uses",
             text);
}

/* The orders that results depend on, by an example each: what a remap has to be afraid of. */
static void put_needed(struct screen *screen)
{
    const struct edge_table *edges = &screen->report->edges;
    struct line line = {0};
    size_t most = screen->small ? MOST_NEEDED_SMALL : MOST_NEEDED;
    for (size_t i = 0; edges->analysed && i < edges->groups.count && i < most; i++) {
        const struct edge_group *group = &edges->groups.items[i];
        const struct edge_pair *pair = &group->example.pair;
        if (group->example.verdict != VERDICT_LOAD_BEARING || pair->first.ticks == 0)
            return;
        line_add(&line, "  %sx ", text_count(group->counts[VERDICT_LOAD_BEARING]).text);
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
    line_add(&line, "Implicit orders: %s", report_verdicts(report_all_verdicts(screen->report, verdicts)).text);
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
    const char *file = screen->report->trace.source.file;
    struct line line = {0};
    const char *html = ", or --format html -o FILE.html";
    if (file == NULL)
        file = "TRACE";
    if (strlen(file) > 40) /* half a path helps nobody */
        file = text_base(file);
    line_add(&line, "Next: ptds report %s %s", screen->report->findings.count != 0 ? "--finding 1" : "--all", file);
    if (line.used + strlen(html) <= SCREEN_COLUMNS)
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
    if (report->findings.count != 0)
        put_classes(&screen);
    put_verdicts(&screen);
    unsigned after = gap_rows(&screen, &gaps) + 1 + !screen.small;
    screen_put_findings(&screen, after);
    screen_put_blank(&screen);
    put_gaps(&screen);
    put_next(&screen);
}
