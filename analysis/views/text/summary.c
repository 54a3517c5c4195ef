/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary. Written in the traced process at its exit, so: libc only, bounded output (15 lines of 100 columns, whatever
 * the trace says), no exit. One line a rule: the details are the full report's.
 */
#include "analysis/views/opening.h"
#include "analysis/views/text/report_text.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, MOST_LINES = 15, MOST_RULES = 4 };

static void put(struct text_sink *sink, struct line *line)
{
    line_fit(line, COLUMNS);
    sink->write(sink, line->text, line->used);
    sink->write(sink, "\n", 1);
    *line = (struct line){0};
}

static void put_run(const struct report *report, struct text_sink *sink)
{
    const struct report_totals *totals = &report->totals;
    struct line line = {0};
    line_add(&line, "ptds: %.40s, pid %u", text_base(report->trace.header.program), report->trace.header.pid);
    if (report->trace.header.rank >= 0)
        line_add(&line, ", rank %d", report->trace.header.rank);
    line_add(&line, ", policy %.20s: ", report_policy(report));
    if (totals->run_ns != 0)
        line_add(&line, "%s", text_ns(totals->run_ns).text);
    else
        line_add(&line, "run time unknown");
    put(sink, &line);
    uint64_t streams = 0;
    for (size_t i = 0; i < sizeof totals->streams / sizeof totals->streams[0]; i++)
        streams += totals->streams[i];
    line_add(&line, "ptds: %u thread%s, %s stream%s, %s driver calls%s", report->trace.threads,
             report->trace.threads == 1 ? "" : "s", text_count(streams).text, streams == 1 ? "" : "s",
             text_count(totals->calls).text, report->has_counts ? "" : " recorded");
    if (totals->failed != 0)
        line_add(&line, ", %s of them failed", text_count(totals->failed).text);
    if (totals->gpu_timed != 0)
        line_add(&line, ", GPU times of %s of %s operations", text_count(totals->gpu_timed).text,
                 text_count(totals->gpu_operations).text);
    put(sink, &line);
}

static void put_default_stream(const struct report *report, struct text_sink *sink)
{
    const struct report_totals *totals = &report->totals;
    struct line line = {0};
    if (totals->default_stream == 0) {
        line_add(&line, "ptds: nothing was put on the default stream");
        put(sink, &line);
        return;
    }
    line_add(&line, "ptds: default stream: %s operations, %s remapped", text_count(totals->default_stream).text,
             text_count(totals->remapped).text);
    for (unsigned i = 0; i < KEPT_REASONS; i++)
        if (totals->kept[i] != 0 && i == KEPT_DROPPED)
            line_add(&line, "; %s more kept", text_count(totals->kept[i]).text);
        else if (totals->kept[i] != 0)
            line_add(&line, "; %s kept (%s)", text_count(totals->kept[i]).text, report_kept_names[i]);
    if (totals->failed_default != 0)
        line_add(&line, "; %s failed", text_count(totals->failed_default).text);
    put(sink, &line);
}

/* All findings of one rule. */
struct by_rule {
    const struct rule *rule;
    const struct finding *top, *error; /* error: the first that is one, NULL none */
    uint64_t count, errors, host_ns, known;
};

static size_t group(const struct report *report, struct by_rule groups[RULES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < report_shown(report); i++) {
        const struct finding *finding = report->findings.items[i];
        size_t at = 0;
        while (at < count && groups[at].rule != finding->rule)
            at++;
        if (at == count)
            groups[count++] = (struct by_rule){.rule = finding->rule, .top = finding};
        groups[at].count += finding->count;
        if (finding->severity == SEVERITY_ERROR && groups[at].errors == 0)
            groups[at].error = finding;
        groups[at].errors += finding->severity == SEVERITY_ERROR ? finding->count : 0;
        groups[at].host_ns += finding->host_ns;
        groups[at].known += finding->known;
    }
    return count;
}

static int by_cost(const void *a, const void *b)
{
    const struct by_rule *one = a, *two = b;
    if ((one->error != NULL) != (two->error != NULL))
        return one->error != NULL ? -1 : 1;
    if (one->host_ns != two->host_ns)
        return one->host_ns > two->host_ns ? -1 : 1;
    return one->count != two->count ? (one->count > two->count ? -1 : 1) : strcmp(one->rule->id, two->rule->id);
}

static void add_where(const struct report *report, struct site_namer *namer, const struct finding *finding,
                      struct line *line)
{
    char text[200];
    if (finding->text != NULL)
        line_add(line, " %.60s", finding->text);
    else if (finding->has_api)
        line_add(line, " %.32s", report_api(report, finding));
    if (report_site(report, namer, finding->stack, text, sizeof text))
        line_add(line, " at %s", text);
    enum finding_set set =
        finding->sets[FINDING_WAITS_FOR_KERNELS].count != 0 ? FINDING_WAITS_FOR_KERNELS : FINDING_KERNELS;
    if (finding->sets[set].count == 0)
        return;
    report_id(report, set, finding->sets[set].id[0], text, sizeof text);
    line_add(line, "%s %s", set == FINDING_KERNELS ? ", kernel" : ", behind", text_function(text).text);
}

static void put_finding(const struct report *report, struct site_namer *namer, const struct by_rule *group,
                        struct text_sink *sink)
{
    struct line line = {0};
    line_add(&line, "ptds:  %-24s", group->rule->id);
    line_add(&line, " %6sx", text_count(group->count).text);
    if (group->known != 0)
        line_add(&line, " %9s", text_ns(group->host_ns).text);
    else
        line_add(&line, " %9s", "unknown");
    add_where(report, namer, group->top, &line);
    put(sink, &line);
}

/* What must not be missed: one line for all errors, with the words for the first. */
static void put_errors(const struct report *report, const struct by_rule *groups, size_t count, struct text_sink *sink)
{
    struct line line = {0};
    for (size_t i = 0; i < count && groups[i].error != NULL; i++) {
        const char *needed = report_needed(report, groups[i].error);
        line_add(&line, "%s%s %sx", i == 0 ? "ptds: !! " : "; ", groups[i].rule->id, text_count(groups[i].errors).text);
        if (i == 0)
            line_add(&line, ": %s", needed != NULL ? needed : groups[i].rule->title);
    }
    if (line.used != 0)
        put(sink, &line);
}

/* What is told in one line a cause elsewhere is one line here. */
static void put_folded(const struct report *report, struct text_sink *sink)
{
    struct cause causes[CAUSES_MOST];
    struct line line = {0};
    size_t count = opening_causes(report, causes);
    if (count == 0)
        return;
    line_add(&line, "ptds: below %s, or not yours to change:", opening_floor(report).text);
    for (size_t i = 0; i < count; i++)
        line_add(&line, "%s %s", i != 0 ? "," : "", causes[i].name);
    put(sink, &line);
}

static void put_findings(const struct report *report, struct site_namer *namer, const struct by_rule *groups, size_t count,
                         struct text_sink *sink)
{
    struct line line = {0};
    if (count == 0) {
        if (report->findings.count != 0)
            line_add(&line, "ptds: no finding worth a line of its own");
        else
            line_add(&line, "ptds: no hazards found: %zu rules over %s recorded calls", report->rules,
                     text_count(report->totals.recorded).text);
        put(sink, &line);
        return;
    }
    line_add(&line, "ptds: findings, and what they save at most:");
    put(sink, &line);
    size_t shown = count <= MOST_RULES ? count : MOST_RULES - 1;
    for (size_t i = 0; i < shown; i++)
        put_finding(report, namer, &groups[i], sink);
    if (shown < count) {
        line_add(&line, "ptds:  ... and %zu more:", count - shown);
        for (size_t i = shown; i < count; i++)
            line_add(&line, " %s", groups[i].rule->id);
        put(sink, &line);
    }
}

/* The verdict, in the words of the first error if there is one; what the default stream costs; how long threads waited. */
static void put_opening(const struct report *report, const struct by_rule *groups, size_t count, struct text_sink *sink)
{
    struct line line = {0};
    if (count != 0 && groups[0].error != NULL) {
        put_errors(report, groups, count, sink);
    } else {
        line_add(&line, "ptds: %s", opening_outcome(report).text);
        put(sink, &line);
    }
    if (report->totals.default_stream != 0) {
        line_add(&line, "ptds: %s", opening_default_stream(report).text);
        put(sink, &line);
    }
    line_add(&line, "ptds: %s", opening_blocked(report).text);
    put(sink, &line);
}

struct gap_lines {
    struct line line;
    unsigned lines;
};

static void add_gap(void *data, const char *text)
{
    struct gap_lines *gaps = data;
    line_add(&gaps->line, "%s%s", gaps->lines++ == 0 ? "ptds: not analysed: " : "; ", text);
}

/* The most telling gap comes first; a line has room for one or two, the rest are counted. */
static void put_gaps(const struct report *report, struct text_sink *sink)
{
    struct gap_lines gaps = {0};
    report_gaps(report, add_gap, &gaps);
    if (gaps.lines == 0)
        return;
    put(sink, &gaps.line);
}

static void put_next(const struct report *report, struct text_sink *sink)
{
    struct line line = {0};
    const char *file = report->trace.source.file;
    if (file != NULL) /* one that fits, or the end of it: half a path helps nobody */
        line_add(&line, "ptds: next: ptds report %s", strlen(file) <= 70 ? file : text_base(file));
    else if (report->findings.count != 0)
        line_add(&line, "ptds: next: ptds run --trace app.ptds -- %.40s ... && ptds report app.ptds",
                 text_base(report->trace.header.program));
    if (line.used != 0)
        put(sink, &line);
}

/* What changes everything that follows, in one line before anything else. */
static void put_banners(const struct report *report, struct text_sink *sink)
{
    struct line line = {0}, banner = report_banner(report);
    if (banner.used == 0)
        return;
    line_add(&line, "ptds: !! %s", banner.text);
    put(sink, &line);
}

void report_summary(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    /* Banners, run, default stream, outcome or errors, what it costs, blocked, findings, folded, gaps, next. */
    _Static_assert(1 + 2 + 1 + 3 + 1 + MOST_RULES + 1 + 1 + 1 <= MOST_LINES, "the summary keeps to its lines");
    struct by_rule groups[RULES_MOST];
    size_t count = group(report, groups);
    if (count != 0)
        qsort(groups, count, sizeof groups[0], by_cost);
    put_banners(report, sink);
    put_run(report, sink);
    put_default_stream(report, sink);
    put_opening(report, groups, count, sink);
    put_findings(report, namer, groups, count, sink);
    put_folded(report, sink);
    put_gaps(report, sink);
    put_next(report, sink);
}
