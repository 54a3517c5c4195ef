/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides what worth.h says. Called once a report's pass is over; must hide nothing that puts results in doubt.
 */
#include "analysis/report/worth.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/duration.h"
#include "analysis/findings/library.h"
#include "analysis/report/report.h"

const char *const default_cost_names[DEFAULT_COSTS] = {"up-to",          "unused", "one-thread-one-stream",
                                                       "no-call-waited", "needed", "no-times"};

/* What happens once is set-up, as at the start, unless it takes so many times the floor. */
enum { ONCE_FLOORS = 10 };

static bool parse_percent(const char *text, double *percent)
{
    char *end;
    double value = strtod(text, &end);
    bool sound = strspn(text, "0123456789.") != 0 && strcmp(end, "%") == 0 && value <= 100;
    if (sound)
        *percent = value;
    return sound;
}

/* One of the two values, and where it ends. */
static bool parse_one(const char *text, struct floor *floor, const char **end)
{
    char one[32];
    size_t size = strcspn(text, ",");
    if (size >= sizeof one)
        return false;
    memcpy(one, text, size);
    one[size] = 0;
    *end = text + size;
    return strcmp(one, "0") == 0 || parse_percent(one, &floor->percent) || duration_read(one, &floor->ns);
}

bool floor_parse(const char *text, struct floor *floor)
{
    *floor = (struct floor){0};
    while (parse_one(text, floor, &text)) {
        if (*text == 0)
            return true;
        text++;
    }
    return false;
}

uint64_t floor_ns(struct floor floor, uint64_t run_ns)
{
    double share = (double)run_ns / 100 * floor.percent;
    return share > (double)floor.ns ? (uint64_t)share : floor.ns;
}

/* A call of the default stream that the policy left where it was; not what the shim could not see. */
static bool tells_what_stayed(const struct finding *finding)
{
    return finding->rule->stayed && finding->has_api;
}

bool rule_is_of_default_stream(const struct rule *rule)
{
    return strcmp(rule->class_, "H1") == 0 || strcmp(rule->class_, "H2") == 0 || strcmp(rule->class_, "H7") == 0;
}

bool finding_is_of_default_stream(const struct finding *finding)
{
    return tells_what_stayed(finding) || rule_is_of_default_stream(finding->rule);
}

/* All orders that end at the finding's site are needed, by data or by a time that the program takes. */
static bool is_needed(const struct finding *finding)
{
    return finding->verdicts[VERDICT_NEEDED] + finding->timed != 0 && finding->verdicts[VERDICT_NOT_NEEDED] == 0 &&
           finding->verdicts[VERDICT_MAYBE_NEEDED] == finding->timed;
}

/* Of a finding whose cost nobody knows. */
static enum fold fold_of_unknown(const struct report *report, const struct finding *finding, uint64_t floor)
{
    if (finding->doubt != DOUBT_NONE)
        return FOLD_SHOWN;
    if (finding->severity == SEVERITY_NOTE)
        return FOLD_NO_COST;
    if (!finding_is_of_default_stream(finding) || !trace_has_time(&report->trace))
        return FOLD_SHOWN;
    if (is_needed(finding))
        return finding->timed != 0 ? FOLD_TIMED : FOLD_NEEDED;
    struct default_stream whole = report_default_stream(report);
    return whole.cost != DEFAULT_UP_TO || whole.most_ns < floor ? FOLD_NO_GAIN : FOLD_SHOWN;
}

static enum fold fold_of(const struct report *report, const struct finding *finding, uint64_t floor)
{
    if (finding->severity == SEVERITY_ERROR || finding->rule->banner)
        return FOLD_SHOWN;
    if (floor == 0)
        return FOLD_SHOWN;
    if (finding->known == 0)
        return fold_of_unknown(report, finding, floor);
    if (finding->host_ns < floor && finding->doubt == DOUBT_NONE)
        return FOLD_FLOOR;
    if (finding->rule->set_up && finding->count == 1 && finding->host_ns / ONCE_FLOORS < floor)
        return FOLD_ONCE;
    return finding->rule->at_call && library_of(&report->trace.defs, finding->stack) != NULL ? FOLD_LIBRARY : FOLD_SHOWN;
}

int finding_place(const struct finding *finding)
{
    return finding->fold != FOLD_SHOWN           ? PLACE_FOLDED
           : finding->doubt == DOUBT_WRONG       ? PLACE_WRONG
           : finding->severity == SEVERITY_ERROR ? PLACE_ERROR
           : finding->doubt != DOUBT_NONE        ? PLACE_DOUBT
                                                 : PLACE_COST;
}

static int by_weight(const void *a, const void *b)
{
    const struct finding *one = *(struct finding *const *)a, *two = *(struct finding *const *)b;
    if (finding_place(one) != finding_place(two))
        return finding_place(one) - finding_place(two);
    int first = finding_weigh((struct finding_weight){one->severity, one->weight_ns, one->unknown, one->count},
                              (struct finding_weight){two->severity, two->weight_ns, two->unknown, two->count});
    return first != 0 ? first : one->first != two->first ? (one->first < two->first ? -1 : 1) : 0;
}

/* What it would save, at most: of what the default stream does to a run, nobody knows one finding's share. */
static uint64_t weight(const struct finding *finding, const struct default_stream *whole)
{
    bool of_whole = finding->known == 0 && finding->fold == FOLD_SHOWN && finding_is_of_default_stream(finding);
    return of_whole && whole->most_ns > finding->host_ns ? whole->most_ns : finding->host_ns;
}

static void sort(struct report *report)
{
    if (report->findings.count != 0)
        qsort(report->findings.items, report->findings.count, sizeof *report->findings.items, by_weight);
}

/* What a rule says of the default stream it says once, at the place that weighs most: all places go by one change. Where
 * a policy moved work, that change is the one that what it left behind asks for, one for each reason to leave it. */
static bool fold_same(struct report *report)
{
    const struct rule *told[RULES_MOST];
    size_t count = 0;
    bool any = false, stayed = false;
    for (size_t i = 0; i < report->findings.count; i++)
        stayed |= report->findings.items[i]->fold == FOLD_SHOWN && tells_what_stayed(report->findings.items[i]);
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding *finding = report->findings.items[i];
        bool again = stayed;
        if (tells_what_stayed(finding) || finding_place(finding) != PLACE_COST || finding->known != 0 ||
            !finding_is_of_default_stream(finding))
            continue;
        for (size_t j = 0; j < count; j++)
            again |= told[j] == finding->rule;
        if (again)
            finding->fold = FOLD_SAME;
        else if (count < RULES_MOST)
            told[count++] = finding->rule;
        any |= again;
    }
    return any;
}

static void add_up(struct report *report)
{
    sums_free(&report->sums);
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        sums_add(&report->sums, &report->trace.defs, finding, finding->fold == FOLD_SHOWN,
                 (struct sum){1, finding->count, finding->host_ns, finding->known});
    }
    sums_finish(&report->sums);
    report->out_of_memory |= report->sums.out_of_memory;
}

void report_weigh(struct report *report, struct floor floor)
{
    uint64_t ns = floor_ns(floor, report->totals.run_ns);
    struct default_stream whole = report_default_stream(report);
    report->floor = floor;
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding *finding = report->findings.items[i];
        finding->fold = fold_of(report, finding, ns);
        finding->weight_ns = weight(finding, &whole);
    }
    sort(report);
    if (fold_same(report))
        sort(report);
    report_find_sequences(report);
    report_find_entries(report);
    add_up(report);
}

size_t report_shown(const struct report *report)
{
    size_t shown = 0;
    while (shown < report->findings.count && report->findings.items[shown]->fold == FOLD_SHOWN)
        shown++;
    return shown;
}

/* An order at the finding's site that this run's policy took away, by its example: a proven one where the finding says
 * wrong. Of any other doubt the orders there, which are kept, show nothing. */
static const struct edge_pair *pair_at(const struct report *report, const struct finding *finding)
{
    enum edge_loss least = finding->doubt == DOUBT_WRONG ? LOSS_DEFINITE : LOSS_POSSIBLE;
    bool about_order = finding->rule->order_given_up || finding->rule->may_lose_order;
    for (size_t i = 0; about_order && finding->has_api && i < report->edges.groups.count; i++) {
        const struct edge *example = &report->edges.groups.items[i].example;
        bool here = example->to.stack == finding->stack && example->to.api == finding->api;
        if (here && example->loss >= least && example->pair.first.ticks != 0)
            return &example->pair;
    }
    return NULL;
}

const struct edge_pair *report_pair(const struct report *report, const struct finding *finding)
{
    return finding->has_pair ? &finding->pair : finding->doubt != DOUBT_NONE ? pair_at(report, finding) : NULL;
}

const char *report_first_past(const struct report *report)
{
    const struct definitions *defs = &report->trace.defs;
    size_t i = 0;
    while (i < defs->bypasses.count && defs->bypasses.items[i].what == PTDS_BYPASS_FUNCTIONS)
        i++; /* what these let through comes through the shim */
    if (i == defs->bypasses.count && defs->untabled.count == 0)
        return NULL;
    const char *name = i < defs->bypasses.count ? defs->bypasses.items[i].text : defs->untabled.items[0].text;
    return name != NULL ? text_base(name) : "?";
}

bool report_has_no_calls(const struct report *report)
{
    return report->trace.calls == 0 && (!report->has_counts || report->totals.calls == 0);
}

static enum lack lack_of(const struct report *report)
{
    const struct report_totals *totals = &report->totals;
    if (report->left_out != 0)
        return LACK_LOOK;
    if (trace_has_gaps(&report->trace) || report_has_no_calls(report))
        return LACK_RECORDS;
    if (report->out_of_memory)
        return LACK_LOOK;
    if (report_first_past(report) != NULL)
        return LACK_PAST;
    return totals->unplaced != 0 || totals->unknown_streams != 0 || report->edges.totals.unplaced != 0 ? LACK_STREAMS
                                                                                                       : LACK_NONE;
}

struct outcome report_outcome(const struct report *report)
{
    struct outcome outcome = {.lack = lack_of(report)};
    bool records = outcome.lack != LACK_LOOK && outcome.lack != LACK_RECORDS;
    outcome.complete = outcome.lack == LACK_NONE;
    outcome.seen = report->trace.calls - report->left_out;
    outcome.calls = report->has_counts ? report->totals.calls : records ? outcome.seen : 0;
    if (report->left_out != 0 && outcome.calls < report->trace.calls)
        outcome.calls = report->trace.calls;
    outcome.little = !records && (outcome.seen == 0 || outcome.seen < outcome.calls - outcome.calls / 2);
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        if (finding->doubt == DOUBT_NONE && finding->rule->conflict)
            outcome.possible += finding->count;
        if (finding->doubt <= outcome.doubt)
            continue;
        outcome.doubt = finding->doubt;
        outcome.finding = finding;
        outcome.pair = report_pair(report, finding);
    }
    return outcome;
}

static uint64_t orders(const struct report *report, enum verdict verdict)
{
    const uint64_t(*counts)[VERDICTS] = report->edges.counts;
    return counts[EDGE_FAN_IN][verdict] + counts[EDGE_FAN_OUT][verdict] + counts[EDGE_FIFO][verdict];
}

static bool is_alone(const struct report *report)
{
    return report->trace.threads == 1 && report->totals.program_streams == 1;
}

bool report_knows_nothing(const struct report *report)
{
    return report->totals.recorded == 0 && lack_of(report) != LACK_NONE;
}

bool report_knows_times(const struct report *report)
{
    return trace_has_time(&report->trace) && !report_knows_nothing(report);
}

bool report_knows_blocked(const struct report *report)
{
    return report_knows_times(report) && (report->totals.blocked_ns != 0 || report->totals.untimed_waits == 0);
}

unsigned report_verdict(const struct report *report)
{
    return report_knows_nothing(report) ? DOUBTS : report_outcome(report).doubt;
}

struct default_stream report_default_stream(const struct report *report)
{
    uint64_t most = gain_most(&report->gain);
    struct default_stream out = {.most_ns = most < report->totals.run_ns ? most : report->totals.run_ns};
    bool waited_for = report->gain.waits != 0; /* though nothing was put on it */
    if (report_knows_nothing(report))
        out.cost = DEFAULT_UNKNOWN;
    else if (report->totals.default_stream == 0 && !waited_for)
        out.cost = DEFAULT_UNUSED;
    else if (!trace_has_time(&report->trace))
        out.cost = DEFAULT_UNKNOWN;
    else if (is_alone(report) && !waited_for)
        out.cost = DEFAULT_ALONE;
    else if (out.most_ns == 0)
        out.cost = DEFAULT_NO_WAIT;
    else if (report->edges.analysed && orders(report, VERDICT_NEEDED) != 0 &&
             orders(report, VERDICT_NOT_NEEDED) + orders(report, VERDICT_MAYBE_NEEDED) == 0)
        out.cost = DEFAULT_NEEDED;
    if (out.cost != DEFAULT_UP_TO)
        out.most_ns = 0;
    out.or_more = report->gain.among_threads && (out.cost == DEFAULT_UP_TO || out.cost == DEFAULT_NO_WAIT);
    return out;
}
