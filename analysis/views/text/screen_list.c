/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen's list of findings: a sequence is one entry, advice is given once for each rule. Called by
 * screen.c. Must not take more rows than it was given.
 */
#include "analysis/views/text/screen_list.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/views/text/screen_put.h"

#include "analysis/views/removal_words.h"
#include "analysis/views/verdict_words.h"

enum { WRAPPED_LINES = 2 };

/* Why there is no name, in its place: "(changed since the trace)" */
static bool is_reason(const char *symbol)
{
    return symbol[0] == '(' && strncmp(symbol, "(anonymous namespace)", 21) != 0;
}

/* Of "OBJECT+0x1f FUNCTION(ARGUMENTS)+0x3 file.c:12" where it does not fit what tells most: the function without its
 * arguments, file and line. Where it has none, all of it: an object and an offset are nothing without each other. */
static struct line short_site(const char *frame, size_t columns)
{
    const char *symbol = strchr(frame, ' '), *offset = symbol, *next;
    struct line site = {0};
    while (offset != NULL && (next = strstr(offset + 1, "+0x")) != NULL)
        offset = next;
    if (strlen(frame) <= columns || symbol == NULL || is_reason(symbol + 1))
        line_add(&site, "%s", frame);
    else if (offset == symbol || strlen(symbol + 1) <= columns)
        line_add(&site, "%s", symbol + 1);
    else
        line_add(&site, "%s%s", text_function(symbol + 1).text, offset + 3 + strspn(offset + 3, "0123456789abcdef"));
    return site;
}

/* Adds a part to the last line, or begins one with it where it does not fit. */
static unsigned add_part(struct line *lines, unsigned count, const char *join, const char *part)
{
    if (line_add_whole(&lines[count - 1], SCREEN_COLUMNS, "%s %s", join, part))
        return count;
    line_add(&lines[count], "      %s", part);
    return count + 1;
}

enum { SITE_LINES = 3 };

/* The call, where it was made, and behind what; each on a line of its own where it does not fit. Returns how many. */
static unsigned site_lines(const struct screen *screen, const struct finding *finding, struct line lines[SITE_LINES])
{
    const struct report *report = screen->report;
    char text[400];
    struct line part = {0};
    unsigned count = 1;
    memset(lines, 0, SITE_LINES * sizeof *lines);
    line_add(&lines[0], "      ");
    if (finding->text != NULL)
        line_add(&lines[0], "%.70s", finding->text);
    else if (finding->has_api)
        line_add(&lines[0], "%s", report_words_api(report, finding));
    if (report_words_site(report, screen->namer, finding->stack, text, sizeof text)) {
        line_add(&part, "at %s", short_site(text, SCREEN_COLUMNS - lines[0].used - 4).text);
        count = add_part(lines, count, "", part.text);
    }
    enum finding_set set =
        finding->sets[FINDING_WAITS_FOR_KERNELS].count != 0 ? FINDING_WAITS_FOR_KERNELS : FINDING_KERNELS;
    if (finding->sets[set].count == 0)
        return count;
    report_words_id(report, set, finding->sets[set].id[0], text, sizeof text);
    part = (struct line){0};
    line_add(&part, "%s %s", set == FINDING_KERNELS ? "kernel" : "behind", text_function(text).text);
    return add_part(lines, count, ",", part.text);
}

/* Which of the rule's cases; 0 lines: it has but one. */
static unsigned put_case(struct screen *screen, const struct finding *finding, bool count_only)
{
    const char *const *details = finding->rule->details;
    return details != NULL ? screen_put_text(screen, "      ", 0, details[finding->detail], WRAPPED_LINES, count_only) : 0;
}

static unsigned put_advice(struct screen *screen, const struct entry *entry, bool count_only)
{
    const struct finding *finding = screen->report->findings.items[entry->first];
    return entry->advised ? 0 : screen_put_text(screen, "      -> ", 0, finding_advice(finding), WRAPPED_LINES, count_only);
}

/* The verdicts where there are any and they fit; else the one that matters most. */
static void add_verdicts(const struct report *report, const struct finding *finding, struct line *line)
{
    const uint64_t *verdicts = verdict_words_of_finding(report, finding);
    struct line all = verdict_words_line(verdicts);
    enum verdict telling = VERDICT_NEEDED;
    if (verdicts == NULL || verdicts[VERDICT_NOT_NEEDED] + verdicts[VERDICT_NEEDED] + verdicts[VERDICT_MAYBE_NEEDED] == 0)
        return;
    if (verdicts[telling] == 0)
        telling = VERDICT_MAYBE_NEEDED;
    if (line->used + 2 + all.used <= SCREEN_COLUMNS)
        line_add(line, ", %s", all.text);
    else
        line_add(line, ", %s %s", text_count(verdicts[telling]).text, verdict_words[telling]);
}

static unsigned put_goes(struct screen *screen, const struct finding *finding, bool count_only)
{
    return screen_put_text(screen, "      ", 2, removal_words_finding(screen->report, finding).text, WRAPPED_LINES,
                           count_only);
}

static void put_entry(struct screen *screen, const struct entry *entry)
{
    const struct report *report = screen->report;
    const struct finding *finding = report->findings.items[entry->first];
    const char *needed = verdict_words_needed(report, finding);
    struct line line = {0};
    line_add(&line, "#%-3zu %-24.24s", entry->first + 1, finding->rule->id);
    line_add(&line, " %9s %8s", entry->known != 0 ? text_ns(entry->host_ns).text : "unknown",
             report_words_times(entry->calls).text);
    line_add(&line, "  %s", severity_names[finding->severity]);
    if (entry->places > 1)
        line_add(&line, ", at %zu call sites", entry->places);
    else
        add_verdicts(report, finding, &line);
    screen_put(screen, &line);
    struct line lines[SITE_LINES];
    for (unsigned i = 0, count = site_lines(screen, finding, lines); i < count; i++)
        screen_put(screen, &lines[i]);
    put_case(screen, finding, false);
    put_goes(screen, finding, false);
    if (needed != NULL) {
        line_add(&line, "      %s%s", verdict_words_is_wrong(finding) ? "!! " : "", needed);
        screen_put(screen, &line);
    }
    if (entry->findings < 2 || entry->places > 1)
        return;
    line_add(&line, "      with");
    for (size_t i = 0; i < report->findings.count; i++)
        if (i != entry->first && report->findings.items[i]->sequence == finding->sequence)
            line_add(&line, " #%zu", i + 1);
    line_add(&line, ": one sequence, removing one wait exposes the next");
    screen_put(screen, &line);
}

/* How many rows an entry takes. */
static unsigned rows_of(struct screen *screen, const struct entry *entry)
{
    const struct report *report = screen->report;
    const struct finding *finding = report->findings.items[entry->first];
    struct line lines[SITE_LINES];
    unsigned rows = 1 + site_lines(screen, finding, lines) + (entry->findings > 1 && entry->places == 1) +
                    (verdict_words_needed(report, finding) != NULL);
    return rows + put_case(screen, finding, true) + put_goes(screen, finding, true) + put_advice(screen, entry, true);
}

/* How many entries fit into `rows`. */
static size_t fitting(struct screen *screen, unsigned rows)
{
    size_t fit = 0;
    unsigned used = 0;
    for (; fit < screen->report->entries.count && fit < SCREEN_FINDINGS; fit++) {
        used += rows_of(screen, &screen->report->entries.items[fit]);
        if (used > rows)
            break;
    }
    return fit;
}

static void put_list(struct screen *screen, unsigned after)
{
    const struct report *report = screen->report;
    struct line line = {0};
    uint64_t covered = 0;
    size_t shown = fitting(screen, screen->rows > after + 1 ? screen->rows - after - 1 : 0);
    size_t findings = 0;
    screen->listed = shown;
    for (size_t i = 0; i < shown; i++) {
        covered += report->entries.items[i].host_ns;
        findings += report->entries.items[i].findings;
    }
    if (findings != 0)
        line_add(&line, "Findings: %zu of %zu", findings, report->findings.count);
    else
        line_add(&line, "Findings: none of %zu fits here", report->findings.count);
    if (covered != 0)
        line_add(&line, ", which save up to %s", text_ns(covered).text);
    if (covered != 0 && report->trace.threads > 1)
        line_add(&line, " of %s threads' time", text_count(report->trace.threads).text);
    line_add(&line, "%s", findings < report->findings.count ? "; all: --all" : "");
    screen_put(screen, &line);
    for (size_t i = 0; i < shown; i++) {
        put_entry(screen, &report->entries.items[i]);
        put_advice(screen, &report->entries.items[i], false);
    }
}

void screen_list_findings(struct screen *screen, unsigned after)
{
    const struct report *report = screen->report;
    struct line line = {0};
    screen_put_blank(screen);
    if (report->entries.count != 0) {
        put_list(screen, after);
        return;
    }
    if (rank_shown(report) != 0)
        line_add(&line, "No memory to list the %zu findings", report->findings.count);
    else if (report->findings.count != 0)
        line_add(&line, "Findings: none of %zu is worth a line of its own; all: --all", report->findings.count);
    else
        line = opening_nothing_found(report);
    screen_put(screen, &line);
}
