/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen's list of findings: a sequence is one entry, advice is given once for each rule. Called by
 * screen.c. Must not take more rows than it was given.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/views/text/screen_parts.h"

enum { ADVICE_LINES = 2, PLACES_APART = 2 };

/* An entry of the list: a finding, or all of a sequence, or the same at several places. */
struct entry {
    size_t first; /* rank of its costliest finding */
    size_t findings;
    size_t places; /* findings of the first one's rule and call, one a place; sequences where more than 1 are not named */
    uint64_t host_ns, calls;
    bool error;
};

static size_t entries(const struct report *report, struct entry *out)
{
    size_t count = 0;
    for (size_t i = 0; i < report_shown(report); i++) {
        const struct finding *finding = report->findings.items[i];
        const struct sequence *sequence = finding->sequence != 0 ? &report->sequences.items[finding->sequence - 1] : NULL;
        bool error = finding->severity == SEVERITY_ERROR;
        if (sequence == NULL)
            out[count++] = (struct entry){i, 1, 1, finding->host_ns, finding->count, error};
        else if (sequence->first == i)
            out[count++] = (struct entry){i, sequence->findings, 1, sequence->host_ns, finding->count, error};
    }
    return count;
}

static bool alike(const struct finding *one, const struct finding *two)
{
    return one->rule == two->rule && one->has_api && two->has_api && one->api == two->api && one->twin == two->twin &&
           one->severity == two->severity && one->detail == two->detail;
}

static uint64_t sum(uint64_t one, uint64_t two)
{
    uint64_t both;
    return __builtin_add_overflow(one, two, &both) ? UINT64_MAX : both;
}

/* One cause may show at many places, as lazy loading does: the costliest are entries of their own, the rest is one. What
 * the default stream does is one cause altogether. */
static size_t fold(const struct report *report, struct entry *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        const struct finding *finding = report->findings.items[list[i].first];
        unsigned same = 0;
        for (; at < kept; at++) {
            same += alike(report->findings.items[list[at].first], finding);
            if (same > PLACES_APART)
                break;
        }
        if (at == kept) {
            list[kept++] = list[i];
            continue;
        }
        list[at].findings += list[i].findings;
        list[at].places++;
        list[at].host_ns = sum(list[at].host_ns, list[i].host_ns);
        list[at].calls = sum(list[at].calls, list[i].calls);
    }
    return kept;
}

/* In order of number: what is looked for by its number is found. */
static int by_number(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;
    return one->first < two->first ? -1 : one->first > two->first;
}

/* Where, and behind what; the second on a line of its own where both do not fit. Returns how many lines. */
static unsigned site_lines(const struct screen *screen, const struct finding *finding, struct line lines[2])
{
    const struct report *report = screen->report;
    char text[400];
    lines[0] = lines[1] = (struct line){0};
    line_add(&lines[0], "      ");
    if (finding->text != NULL)
        line_add(&lines[0], "%.70s", finding->text);
    else if (finding->has_api)
        line_add(&lines[0], "%s", report_api(report, finding));
    if (report_site(report, screen->namer, finding->stack, text, sizeof text)) {
        const char *symbol = strchr(text, ' '); /* what tells most, where not all of it fits */
        bool fits = lines[0].used + 4 + strlen(text) <= SCREEN_COLUMNS;
        line_add(&lines[0], " at %s", fits || symbol == NULL ? text : symbol + 1);
    }
    enum finding_set set =
        finding->sets[FINDING_WAITS_FOR_KERNELS].count != 0 ? FINDING_WAITS_FOR_KERNELS : FINDING_KERNELS;
    if (finding->sets[set].count == 0)
        return 1;
    report_id(report, set, finding->sets[set].id[0], text, sizeof text);
    struct line name = text_function(text);
    const char *what = set == FINDING_KERNELS ? "kernel" : "behind";
    bool fits = lines[0].used + 9 + name.used <= SCREEN_COLUMNS;
    if (fits)
        line_add(&lines[0], ", %s %s", what, name.text);
    else
        line_add(&lines[1], "      %s %s", what, name.text);
    return fits ? 1 : 2;
}

/* A sentence over at most ADVICE_LINES lines, broken between words. */
static unsigned put_wrapped(struct screen *screen, const char *text, bool count_only)
{
    enum { WIDTH = SCREEN_COLUMNS - 9 };
    unsigned lines = 0;
    while (*text != 0 && lines < ADVICE_LINES) {
        struct line line = {0};
        size_t size = strlen(text);
        bool last = ++lines == ADVICE_LINES;
        if (size > WIDTH && !last)
            for (size = WIDTH; size > 1 && text[size] != ' ';)
                size--;
        line_add(&line, "      %s%.*s", lines == 1 ? "-> " : "   ", (int)size, text);
        if (!count_only)
            screen_put(screen, &line); /* ends the last one after a whole word */
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

/* The verdicts where there are any and they fit; else the one that matters most. */
static void add_verdicts(const struct report *report, const struct finding *finding, struct line *line)
{
    const uint64_t *verdicts = report_finding_verdicts(report, finding);
    struct line all = report_verdicts(verdicts);
    enum verdict telling = VERDICT_LOAD_BEARING;
    if (verdicts == NULL || verdicts[VERDICT_FALSE] + verdicts[VERDICT_LOAD_BEARING] + verdicts[VERDICT_UNKNOWN] == 0)
        return;
    if (verdicts[telling] == 0)
        telling = VERDICT_UNKNOWN;
    if (line->used + 2 + all.used <= SCREEN_COLUMNS)
        line_add(line, ", %s", all.text);
    else
        line_add(line, ", %s %s", text_count(verdicts[telling]).text, verdict_words[telling]);
}

static void put_entry(struct screen *screen, const struct entry *entry)
{
    const struct report *report = screen->report;
    const struct finding *finding = report->findings.items[entry->first];
    const char *needed = report_needed(report, finding);
    struct line line = {0};
    line_add(&line, "#%-3zu %-24.24s", entry->first + 1, finding->rule->id);
    line_add(&line, " %9s %7sx", finding->known != 0 ? text_ns(entry->host_ns).text : "unknown",
             text_count(entry->calls).text);
    line_add(&line, "  %s", severity_names[finding->severity]);
    if (entry->places > 1)
        line_add(&line, ", at %zu places", entry->places);
    else
        add_verdicts(report, finding, &line);
    screen_put(screen, &line);
    struct line lines[2];
    for (unsigned i = 0, count = site_lines(screen, finding, lines); i < count; i++)
        screen_put(screen, &lines[i]);
    if (needed != NULL) {
        line_add(&line, "      %s%s", report_is_wrong(finding) ? "!! " : "", needed);
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

/* How many entries fit into `rows`. */
static size_t fitting(struct screen *screen, const struct entry *list, size_t count, unsigned rows)
{
    const struct report *report = screen->report;
    size_t fit = 0;
    unsigned used = 0;
    for (; fit < count && fit < SCREEN_FINDINGS; fit++) {
        const struct finding *finding = report->findings.items[list[fit].first];
        const struct rule *rule = finding->rule;
        struct line lines[2];
        unsigned need = 1 + site_lines(screen, finding, lines) + (list[fit].findings > 1 && list[fit].places == 1) +
                        (report_needed(report, finding) != NULL);
        if (!advised(report, list, fit, rule))
            need += put_wrapped(screen, finding_advice(finding), true);
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
    line_add(&line, "Findings: %zu of %zu", findings, report->findings.count);
    if (covered != 0)
        line_add(&line, ", which would save up to %s", text_ns(covered).text);
    line_add(&line, "%s", findings < report->findings.count ? "; all: --all" : "");
    screen_put(screen, &line);
    for (size_t i = 0; i < shown; i++) {
        const struct finding *finding = report->findings.items[list[i].first];
        put_entry(screen, &list[i]);
        if (!advised(report, list, i, finding->rule))
            put_wrapped(screen, finding_advice(finding), false);
    }
}

void screen_put_findings(struct screen *screen, unsigned after)
{
    const struct report *report = screen->report;
    struct line line = {0};
    struct entry *list = report_shown(report) != 0 ? calloc(report_shown(report), sizeof *list) : NULL;
    screen_put_blank(screen);
    if (list != NULL) {
        size_t count = entries(report, list);
        count = fold(report, list, count);
        qsort(list, count, sizeof *list, by_number);
        put_list(screen, list, count, after);
        free(list);
        return;
    }
    if (report_shown(report) != 0)
        line_add(&line, "No memory to list the %zu findings", report->findings.count);
    else if (report->findings.count != 0)
        line_add(&line, "No finding is worth a line of its own: %zu rules over %s recorded calls", report->rules,
                 text_count(report->totals.recorded).text);
    else
        line_add(&line, "No hazards found: %zu rules over %s recorded calls", report->rules,
                 text_count(report->totals.recorded).text);
    screen_put(screen, &line);
}
