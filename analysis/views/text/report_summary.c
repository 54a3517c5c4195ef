/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary. Written in the traced process at its exit, so: libc only, bounded output (15 lines of 100 columns, whatever
 * the trace says; the last may be longer, for its path), no exit. One line a rule: the details are the full report's.
 */
#include "analysis/views/text/report_summary.h"

#include "analysis/base/line.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/outcome.h"
#include "analysis/views/command_words.h"
#include "analysis/views/file_word.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/moved_words.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/report_text.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, MOST_LINES = 15, MOST_RULES = 4, MORE_COLUMNS = 20 };

struct summary {
    const struct report *report;
    struct site_namer *namer;
    struct text_sink *sink;
    unsigned lines; /* put so far */
    bool safe;      /* is said */
};

/* A line that ends with a command is whole, whatever the columns: half a command is an error for who copies it. */
static void put_whole(struct summary *summary, struct line *line)
{
    summary->sink->write(summary->sink, line->text, line->used);
    summary->sink->write(summary->sink, "\n", 1);
    summary->lines++;
    *line = (struct line){0};
}

static void put(struct summary *summary, struct line *line)
{
    line_fit(line, COLUMNS);
    put_whole(summary, line);
}

static void put_run(struct summary *summary)
{
    const struct report *report = summary->report;
    const struct report_totals *totals = &report->totals;
    struct line line = {0};
    line_add(&line, "ptds: %.40s, pid %u", text_base(report->trace.header.program), report->trace.header.pid);
    if (report->trace.header.rank >= 0)
        line_add(&line, ", rank %d", report->trace.header.rank);
    line_add(&line, ", policy %.20s%s: ", report_words_policy(report), report_words_trust(report));
    if (totals->run_ns != 0)
        line_add(&line, "ran %s", text_ns(totals->run_ns).text);
    else
        line_add(&line, "run time unknown");
    if (totals->remapped != 0 &&
        line_add_whole(&line, COLUMNS, ", %s%s", text_plural(totals->calls, "driver call").text,
                       report->has_counts ? "" : " recorded") &&
        totals->failed != 0)
        line_add_whole(&line, COLUMNS, ", %s of them failed", text_count(totals->failed).text);
    put(summary, &line);
    if (totals->remapped != 0)
        return;
    line_add(&line, "ptds: %s, %s", text_plural(report->trace.threads, "thread").text,
             text_plural(totals->program_streams, "stream").text);
    line_add(&line, ", %s%s", text_plural(totals->calls, "driver call").text, report->has_counts ? "" : " recorded");
    if (totals->failed != 0)
        line_add(&line, ", %s of them failed", text_count(totals->failed).text);
    if (totals->gpu_timed != 0)
        line_add(&line, ", GPU times of %s of %s operations", text_count(totals->gpu_timed).text,
                 text_count(totals->gpu_operations).text);
    put(summary, &line);
}

/* How many operations went where. Why some were kept is said as far as there is room; none is said twice. */
static void put_default_stream(struct summary *summary)
{
    const struct report_totals *totals = &summary->report->totals;
    struct line line = {0};
    uint64_t unsaid = totals->kept_all;
    if (totals->default_stream == 0 && !summary->report->has_counts && !outcome_of(summary->report).complete)
        return;
    if (totals->default_stream == 0) {
        line_add(&line, "ptds: nothing was put on the default stream");
        put(summary, &line);
        return;
    }
    if (totals->remapped != 0 && totals->remapped == totals->default_stream)
        line_add(&line, "ptds: %s moved", text_plural(totals->remapped, "default-stream operation").text);
    else
        line_add(&line, "ptds: %s: %s moved", text_plural(totals->default_stream, "default-stream operation").text,
                 text_count(totals->remapped).text);
    if (totals->failed_default != 0)
        line_add(&line, "; %s failed", text_count(totals->failed_default).text);
    for (unsigned i = KEPT_UNSAID + 1; i <= KEPT_DROPPED; i++) {
        unsigned why = i == KEPT_DROPPED ? KEPT_UNSAID : i; /* what tells least comes last */
        if (totals->kept[why] != 0 &&
            line_add_whole(&line, COLUMNS - (unsaid != totals->kept[why] ? MORE_COLUMNS : 0), "; %s kept (%s)",
                           text_count(totals->kept[why]).text, report_kept_names[why]))
            unsaid -= totals->kept[why];
    }
    if (unsaid != 0)
        line_add(&line, "; %s%s kept", text_count(unsaid).text, unsaid != totals->kept_all ? " more" : "");
    if (totals->remapped != 0 && opening_is_plainly_right(summary->report))
        summary->safe = line_add_whole(&line, COLUMNS, ", results safe (no order that a result needs was missing)");
    put(summary, &line);
}

static int by_cost(const void *a, const void *b)
{
    const struct rule_sum *one = *(const struct rule_sum *const *)a, *two = *(const struct rule_sum *const *)b;
    if ((one->error != NULL) != (two->error != NULL))
        return one->error != NULL ? -1 : 1;
    if (one->error != NULL && one->error->doubt != two->error->doubt)
        return one->error->doubt > two->error->doubt ? -1 : 1;
    if (one->shown.host_ns != two->shown.host_ns)
        return one->shown.host_ns > two->shown.host_ns ? -1 : 1;
    return one->shown.calls != two->shown.calls ? (one->shown.calls > two->shown.calls ? -1 : 1)
                                                : strcmp(one->rule->id, two->rule->id);
}

/* Errors first. */
static size_t rules_shown(const struct report *report, const struct rule_sum *rules[RULES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < report->sums.rules.count && count < RULES_MOST; i++)
        if (report->sums.rules.items[i].top != NULL)
            rules[count++] = &report->sums.rules.items[i];
    if (count != 0)
        qsort(rules, count, sizeof rules[0], by_cost);
    return count;
}

/* The call, its place, and the kernel that it is or stood behind: as far as all of each fits. */
static void add_where(const struct summary *summary, const struct finding *finding, struct line *line)
{
    const struct report *report = summary->report;
    enum finding_set set =
        finding->sets[FINDING_WAITS_FOR_KERNELS].count != 0 ? FINDING_WAITS_FOR_KERNELS : FINDING_KERNELS;
    char text[300];
    if (finding->text != NULL)
        line_add(line, " %.60s", finding->text);
    else if (finding->has_api)
        line_add(line, " %s", report_words_api(report, finding));
    if (report_words_site(report, summary->namer, finding->stack, text, sizeof text))
        line_add_whole(line, COLUMNS, " at %s", text);
    if (finding->sets[set].count == 0)
        return;
    report_words_id(report, set, finding->sets[set].id[0], text, sizeof text);
    line_add_whole(line, COLUMNS, "%s %s", set == FINDING_KERNELS ? ", kernel" : ", behind", text_function(text).text);
}

/* Names take as much room as the longest of those shown. */
static void put_finding(struct summary *summary, const struct rule_sum *rule, int columns)
{
    struct line line = {0};
    line_add(&line, "ptds:  %-*s", columns, rule->rule->id);
    line_add(&line, " %6s %9s", report_words_times(rule->shown.calls).text,
             rule->shown.known != 0 ? text_ns(rule->shown.host_ns).text : "unknown");
    add_where(summary, rule->top, &line);
    put(summary, &line);
}

/* "next to mend: sync-copy, 37 calls, up to 1.2 ms, cuMemcpyDtoH_v2 at overlap+0x1219, behind add_one" */
static void put_to_mend(struct summary *summary, const struct rule_sum *rule)
{
    struct line line = {0};
    line_add(&line, "ptds: next to mend: %s", rule->rule->id);
    if (rule->shown.calls != 0)
        line_add(&line, ", %s", text_plural(rule->shown.calls, "call").text);
    if (rule->shown.known != 0)
        line_add(&line, ", up to %s", text_ns(rule->shown.host_ns).text);
    else if (rule->error == NULL) /* an error's is not what it is about */
        line_add(&line, ", cost unknown");
    line_add(&line, ",");
    add_where(summary, rule->top, &line);
    if (line.text[line.used - 1] == ',')
        line.text[--line.used] = 0;
    put(summary, &line);
}

/* What is told in one line a cause elsewhere is one line here; of a run that moved work the last line counts it. */
static void put_folded(struct summary *summary)
{
    const struct sums *sums = &summary->report->sums;
    struct line line = {0};
    if (sums->causes.count == 0 || summary->report->totals.remapped != 0)
        return;
    line_add(&line, "ptds: also, each small or inside a library:");
    opening_cause_names(&line, COLUMNS, sums, 0);
    put(summary, &line);
}

static void put_more(struct summary *summary, const struct rule_sum *const *rules, size_t count)
{
    struct line line = {0};
    line_add(&line, "ptds:  ... and %zu more:", count);
    for (size_t i = 0; i < count; i++)
        line_add(&line, " %s", rules[i]->rule->id);
    put(summary, &line); /* as many whole ones as fit */
}

static void put_findings(struct summary *summary, const struct rule_sum *const *rules, size_t count, unsigned after)
{
    const struct report *report = summary->report;
    struct line line = {0};
    if (count == 0) {
        if (outcome_knows_nothing(report))
            return;
        line_add(&line, "ptds: %s",
                 report->findings.count != 0 ? "no finding worth a line of its own" : opening_nothing_found(report).text);
        put(summary, &line);
        return;
    }
    if (report->totals.remapped != 0) {
        put_to_mend(summary, rules[0]);
        return;
    }
    line_add(&line, "ptds: findings, and what they save at most:");
    put(summary, &line);
    size_t room = MOST_LINES - after - summary->lines, columns = 0;
    if (room > MOST_RULES)
        room = MOST_RULES;
    size_t shown = count <= room ? count : room - 1;
    for (size_t i = 0; i < shown; i++)
        columns = strlen(rules[i]->rule->id) > columns ? strlen(rules[i]->rule->id) : columns;
    for (size_t i = 0; i < shown; i++)
        put_finding(summary, rules[i], (int)columns);
    if (shown < count)
        put_more(summary, rules + shown, count - shown);
}

/* All errors in one line: those that the verdict did not name must not be missed either. */
static void put_errors(struct summary *summary, const struct rule_sum *const *rules, size_t count,
                       const struct finding *said)
{
    struct line line = {0};
    for (size_t i = 0; i < count && rules[i]->error != NULL; i++)
        if (said == NULL || rules[i]->rule != said->rule)
            line_add(&line, "%s%s%s%s", line.used == 0 ? "ptds: !! errors: " : ", ", rules[i]->rule->id,
                     rules[i]->errors.calls != 0 ? " " : "", report_words_times(rules[i]->errors.calls).text);
    if (line.used != 0)
        put(summary, &line);
}

/* Of a run that moved work: what still costs time, and how the gain is measured. */
static void put_waits(struct summary *summary)
{
    const struct report *report = summary->report;
    enum default_cost cost = default_cost_of(report).cost;
    struct line line = {0}, probe = command_words_probe(report);
    line_add(&line, "ptds: %s", opening_default_stream(report).text);
    if (cost == DEFAULT_UP_TO)
        put(summary, &line);
    line = (struct line){0};
    line_add(&line, "ptds: %s", moved_words_waits(report, COLUMNS - sizeof "ptds: ").text);
    if (cost == DEFAULT_ALONE || cost == DEFAULT_NEEDED) {
        line_add_whole(&line, COLUMNS, "; nothing to gain: %s",
                       cost == DEFAULT_ALONE ? "one thread, one stream" : "results need the order");
        put(summary, &line);
        return;
    }
    const char *asked = opening_is_plainly_right(report) ? "how much faster" : "is it right, and how much faster";
    if (!line_add_whole(&line, COLUMNS, "; %s: %s", asked, probe.text)) {
        put(summary, &line);
        line_add(&line, "ptds: %s: %s", asked, probe.text);
    }
    put_whole(summary, &line);
}

/* The verdict with the pair that shows it, errors besides, what the default stream costs, how long threads waited. */
static void put_opening(struct summary *summary, const struct rule_sum *const *rules, size_t count)
{
    const struct report *report = summary->report;
    struct outcome outcome = outcome_of(report);
    struct line line = {0}, first, second;
    line_add(&line, "ptds: %s%s", outcome.finding != NULL && outcome.finding->severity == SEVERITY_ERROR ? "!! " : "",
             opening_outcome(report).text);
    if (!summary->safe)
        put(summary, &line);
    line = (struct line){0};
    if (opening_pair(report, outcome.pair, &first, &second)) {
        line_add(&line, "ptds:   %s", first.text);
        put(summary, &line);
        line_add(&line, "ptds:   %s", second.text);
        put(summary, &line);
    }
    put_errors(summary, rules, count, outcome.finding);
    if (outcome_knows_nothing(report))
        return;
    if (report->totals.remapped != 0) {
        put_waits(summary);
        return;
    }
    if (report->totals.default_stream != 0) {
        line_add(&line, "ptds: %s", opening_default_stream(report).text);
        put(summary, &line);
    }
    line_add(&line, "ptds: %s", opening_blocked(report).text);
    put(summary, &line);
}

struct gap_lines {
    struct line line;
    const char *first;
    unsigned lines;
};

/* The most telling gap comes first; a line has room for one or two, the rest are counted. */
static void add_gap(void *data, const char *text)
{
    enum { MORE = 14 }; /* "; and 10 more" */
    struct gap_lines *gaps = data;
    if (gaps->lines == 0)
        line_add(&gaps->line, "ptds: %s: %s", gaps->first, text);
    if (gaps->lines != 0 && !line_add_whole(&gaps->line, COLUMNS - MORE, "; %s", text))
        return;
    gaps->lines++;
}

static void put_gaps(struct summary *summary)
{
    const struct report *report = summary->report;
    enum lack lack = outcome_of(report).lack;
    struct line past = opening_past(report), lacks = opening_incomplete(report), more = {0};
    struct gap_lines gaps = {.first = lacks.used != 0 && lack != LACK_STREAMS ? lacks.text : "not analysed"};
    unsigned all = past.used != 0;
    if (lack == LACK_PAST) { /* which no gap tells of */
        line_add(&gaps.line, "ptds: %s", past.text);
        gaps.lines = 1;
    }
    all += gap_words(report, add_gap, &gaps);
    if (all == 0)
        return;
    if (all > gaps.lines) {
        line_add(&more, "; and %u more", all - gaps.lines);
        line_fit(&gaps.line, COLUMNS - more.used);
        line_add(&gaps.line, "%s", more.text);
    }
    put(summary, &gaps.line);
}

static struct line next(const struct report *report)
{
    struct line line = {0};
    if (report->totals.remapped != 0 && report->findings.count > 1)
        line_add(&line, "ptds: %s: ", text_plural(report->findings.count, "finding").text);
    else
        line_add(&line, "ptds: next: ");
    if (report->trace.source.file != NULL)
        line_add(&line, "ptds report%s", file_word(report).text);
    else if (report->findings.count != 0)
        line_add(&line, "%s", command_words_run(report).text);
    else
        line = (struct line){0};
    return line;
}

/* What changes everything that follows, in one line before anything else. */
static void put_banners(struct summary *summary)
{
    struct line line = {0}, banner = report_words_banner(summary->report);
    if (banner.used == 0)
        return;
    line_add(&line, "ptds: !! %s", banner.text);
    put(summary, &line);
}

static void no_line(void *data, const char *text)
{
    (void)data;
    (void)text;
}

void report_summary(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    /* Banners, run, gaps, default stream, verdict, its pair, errors, what it costs, blocked, findings, folded, next. */
    _Static_assert(1 + 2 + 1 + 1 + 1 + 2 + 1 + 1 + 1 + 2 + 1 + 1 <= MOST_LINES, "the summary keeps to its lines");
    struct summary summary = {.report = report, .namer = namer, .sink = sink};
    const struct rule_sum *rules[RULES_MOST];
    size_t count = rules_shown(report, rules);
    struct line last = next(report);
    put_banners(&summary);
    put_run(&summary);
    bool complete = outcome_of(report).complete;
    if (!complete)
        put_gaps(&summary); /* before anything is concluded from the rest */
    put_default_stream(&summary);
    put_opening(&summary, rules, count);
    bool gaps_last = complete && gap_words(report, no_line, NULL) != 0;
    put_findings(&summary, rules, count, (report->sums.causes.count != 0) + gaps_last + (last.used != 0));
    put_folded(&summary);
    if (gaps_last)
        put_gaps(&summary);
    if (last.used != 0)
        put_whole(&summary, &last);
}
