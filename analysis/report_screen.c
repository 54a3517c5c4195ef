/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of `ptds report`. Called by the command only. Must keep to its rows and columns whatever the trace says;
 * what does not fit is counted, never dropped silently.
 */
#include "analysis/report_screen.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 8, MOST_CLASSES_SMALL = 4, MOST_GAPS = 3, MOST_GAPS_SMALL = 1, ADVICE_LINES = 2 };

struct screen {
    const struct report *report;
    struct site_namer *namer;
    struct text_sink *sink;
    unsigned rows; /* left */
    bool small;
};

/* Writes a line, cut at the screen's edge and not inside a UTF-8 sequence. */
static void put(struct screen *screen, struct line *line)
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

static void put_blank(struct screen *screen)
{
    struct line line = {0};
    if (!screen->small)
        put(screen, &line);
}

static unsigned percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (unsigned)((double)part * 100 / (double)whole + 0.5) : 0;
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
    put(screen, &line);
    for (unsigned i = 0; i < KEPT_REASONS; i++)
        kept += totals->kept[i];
    line_add(&line, "%s driver calls%s; default stream: %s operations, %s remapped, %s kept",
             text_count(totals->calls).text, report->has_counts ? "" : " recorded", text_count(totals->default_stream).text,
             text_count(totals->remapped).text, text_count(kept).text);
    put(screen, &line);
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
    put_blank(screen);
    line_add(&line, "Host time lost: %-13s %9s %10s %6s %9s", report_host_time(screen->report).text, "lost", "calls",
             "sites", "GPU lost");
    put(screen, &line);
    for (size_t i = 0; i < shown; i++) {
        line_add(&line, "  %-27.27s %9s %10s %6s %9s", all[i].rule->id,
                 all[i].known != 0 ? text_ns(all[i].host_ns).text : "unknown", text_count(all[i].count).text,
                 text_count(all[i].findings).text, "unknown");
        if (all[i].known != 0 && screen->report->totals.host_ns != 0)
            line_add(&line, "  %3u %%", percent(all[i].host_ns, screen->report->totals.host_ns));
        put(screen, &line);
    }
    if (shown == count)
        return;
    line_add(&line, "  and %zu more:", count - shown);
    for (size_t i = shown; i < count; i++)
        line_add(&line, " %s", all[i].rule->id);
    put(screen, &line);
}

static void put_verdicts(struct screen *screen)
{
    uint64_t verdicts[VERDICTS];
    struct line line = {0};
    line_add(&line, "Implicit edges: %s", report_verdicts(report_all_verdicts(screen->report, verdicts)).text);
    put(screen, &line);
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
        put(gaps->screen, &line);
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
    put(screen, &line);
}

/* An entry of the list: a finding, or all of a sequence. */
struct entry {
    size_t first; /* rank of its costliest finding */
    size_t findings;
    uint64_t host_ns;
};

static size_t entries(const struct report *report, struct entry *out)
{
    size_t count = 0;
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        const struct sequence *sequence = finding->sequence != 0 ? &report->sequences.items[finding->sequence - 1] : NULL;
        if (sequence == NULL)
            out[count++] = (struct entry){i, 1, finding->host_ns};
        else if (sequence->first == i)
            out[count++] = (struct entry){i, sequence->findings, sequence->host_ns};
    }
    return count;
}

/* Ranks keep the order of findings that cost the same. */
static int entry_by_cost(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;
    if (one->host_ns != two->host_ns)
        return one->host_ns > two->host_ns ? -1 : 1;
    return one->first < two->first ? -1 : one->first > two->first;
}

static void add_site(const struct screen *screen, const struct finding *finding, struct line *line)
{
    const struct report *report = screen->report;
    char text[200];
    if (finding->text != NULL)
        line_add(line, "%.60s", finding->text);
    else if (finding->has_api)
        line_add(line, "%.32s", report_api(report, finding));
    if (report_site(report, screen->namer, finding->stack, text, sizeof text))
        line_add(line, " at %.60s", text);
    enum finding_set set =
        finding->sets[FINDING_WAITS_FOR_KERNELS].count != 0 ? FINDING_WAITS_FOR_KERNELS : FINDING_KERNELS;
    if (finding->sets[set].count == 0)
        return;
    report_id(report, set, finding->sets[set].id[0], text, sizeof text);
    line_add(line, "%s %.40s", set == FINDING_KERNELS ? ", kernel" : ", behind", text);
}

/* A sentence over at most ADVICE_LINES lines, broken between words. */
static unsigned put_wrapped(struct screen *screen, const char *text, bool count_only)
{
    enum { WIDTH = SCREEN_COLUMNS - 9 };
    unsigned lines = 0;
    while (*text != 0 && lines < ADVICE_LINES) {
        struct line line = {0};
        size_t size = strlen(text);
        if (size > WIDTH)
            for (size = WIDTH; size > 1 && text[size] != ' ';)
                size--;
        bool cut = ++lines == ADVICE_LINES && text[size] != 0;
        line_add(&line, "      %s%.*s%s", lines == 1 ? "-> " : "   ", (int)(cut ? size - 3 : size), text, cut ? "..." : "");
        if (!count_only)
            put(screen, &line);
        text += size + (text[size] == ' ');
    }
    return lines;
}

static bool advised(const struct report *report, const struct entry *before, size_t count, const struct rule *rule)
{
    for (size_t i = 0; i < count; i++)
        if (report->findings.items[before[i].first]->rule == rule)
            return true;
    return false;
}

static void put_entry(struct screen *screen, const struct entry *entry)
{
    const struct report *report = screen->report;
    const struct finding *finding = report->findings.items[entry->first];
    struct line line = {0};
    line_add(&line, "#%-4zu %-25.25s", entry->first + 1, finding->rule->id);
    line_add(&line, " %9s %8sx", finding->known != 0 ? text_ns(entry->host_ns).text : "unknown",
             text_count(finding->count).text);
    line_add(&line, "  %s", report_verdicts(report_finding_verdicts(report, finding)).text);
    put(screen, &line);
    line_add(&line, "      ");
    add_site(screen, finding, &line);
    put(screen, &line);
    if (entry->findings < 2)
        return;
    line_add(&line, "      with");
    for (size_t i = 0; i < report->findings.count; i++)
        if (i != entry->first && report->findings.items[i]->sequence == finding->sequence)
            line_add(&line, " #%zu", i + 1);
    line_add(&line, ": one sequence, removing one wait exposes the next");
    put(screen, &line);
}

/* How many entries fit into `rows`. */
static size_t fitting(struct screen *screen, const struct entry *list, size_t count, unsigned rows)
{
    const struct report *report = screen->report;
    size_t fit = 0;
    unsigned used = 0;
    for (; fit < count && fit < SCREEN_FINDINGS; fit++) {
        const struct rule *rule = report->findings.items[list[fit].first]->rule;
        unsigned need = 2 + (list[fit].findings > 1);
        if (!advised(report, list, fit, rule))
            need += put_wrapped(screen, rule->advice, true);
        if (used + need > rows)
            break;
        used += need;
    }
    return fit;
}

static void put_list(struct screen *screen, const struct entry *list, size_t count, unsigned after)
{
    const struct report *report = screen->report;
    struct line line = {0};
    uint64_t covered = 0;
    size_t shown = fitting(screen, list, count, screen->rows > after + 1 ? screen->rows - after - 1 : 0);
    size_t findings = 0;
    for (size_t i = 0; i < shown; i++) {
        covered += list[i].host_ns;
        findings += list[i].findings;
    }
    line_add(&line, "Top findings: %zu of %zu", findings, report->findings.count);
    if (report->totals.host_ns != 0)
        line_add(&line, ", %u %% of the host time lost", percent(covered, report->totals.host_ns));
    line_add(&line, "%s", findings < report->findings.count ? "; the others: --all" : "");
    put(screen, &line);
    for (size_t i = 0; i < shown; i++) {
        const struct rule *rule = report->findings.items[list[i].first]->rule;
        put_entry(screen, &list[i]);
        if (!advised(report, list, i, rule))
            put_wrapped(screen, rule->advice, false);
    }
}

static void put_findings(struct screen *screen, unsigned after)
{
    const struct report *report = screen->report;
    struct line line = {0};
    struct entry *list = report->findings.count != 0 ? calloc(report->findings.count, sizeof *list) : NULL;
    put_blank(screen);
    if (list != NULL) {
        size_t count = entries(report, list);
        qsort(list, count, sizeof *list, entry_by_cost);
        put_list(screen, list, count, after);
        free(list);
        return;
    }
    if (report->findings.count != 0)
        line_add(&line, "No memory to list the %zu findings", report->findings.count);
    else
        line_add(&line, "No hazards found: %zu rules over %s recorded calls", report->rules,
                 text_count(report->totals.recorded).text);
    put(screen, &line);
}

static void put_next(struct screen *screen)
{
    const char *file = screen->report->trace.source.file;
    struct line line = {0};
    if (file == NULL)
        file = "TRACE";
    if (strlen(file) > 24)
        file = text_base(file);
    if (screen->report->findings.count != 0)
        line_add(&line, "Next: ptds report --finding %zu %.24s, or --format html -o FILE.html", (size_t)1, file);
    else
        line_add(&line, "Next: ptds report --all %.40s", file);
    put(screen, &line);
}

void report_screen(const struct report *report, struct site_namer *namer, unsigned rows, struct text_sink *sink)
{
    rows = rows < SCREEN_LEAST_ROWS ? SCREEN_LEAST_ROWS : rows > SCREEN_MOST_ROWS ? SCREEN_MOST_ROWS : rows;
    struct screen screen = {.report = report, .namer = namer, .sink = sink, .rows = rows - 1, .small = rows < 32};
    struct gap_lines gaps;
    put_head(&screen);
    if (report->findings.count != 0)
        put_classes(&screen);
    put_verdicts(&screen);
    unsigned after = gap_rows(&screen, &gaps) + 1 + !screen.small;
    put_findings(&screen, after);
    put_blank(&screen);
    put_gaps(&screen);
    put_next(&screen);
}
