/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts into words what report/worth.h decided. Called by the text views; decides nothing but the words. libc only: the shim
 * writes these lines, too.
 */
#include "analysis/views/opening.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/findings/library.h"

enum { LINE_COLUMNS = 80, NAME_COLUMNS = 44 };

size_t opening_number(const struct report *report, const struct finding *finding)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i] == finding)
            return i + 1;
    return 0;
}

struct line opening_outcome(const struct report *report)
{
    struct outcome outcome = report_outcome(report);
    struct line line = {0};
    if (outcome.doubt == DOUBT_NONE) {
        line_add(&line, "Right%s: no order that a result needs was missing",
                 outcome.complete ? "" : ", as far as it was recorded");
        return line;
    }
    line_add(&line, "%s: #%zu %s", outcome.doubt == DOUBT_WRONG ? "WRONG" : "May be wrong",
             opening_number(report, outcome.finding), outcome.finding->rule->id);
    if (line.used + 2 + strlen(outcome.finding->rule->title) <= LINE_COLUMNS)
        line_add(&line, ", %s", outcome.finding->rule->title);
    return line;
}

static void add_where(const struct report *report, const struct edge_end *end, struct line *line)
{
    char text[300];
    line_add(line, " in thread %u", end->thread);
    if (end->stream == 0)
        return;
    report_id(report, FINDING_STREAMS, end->stream, text, sizeof text);
    line_add(line, ", stream %.24s", text);
}

bool opening_pair(const struct report *report, const struct edge_pair *pair, struct line *first, struct line *second)
{
    *first = *second = (struct line){0};
    if (pair == NULL || pair->first.ticks == 0)
        return false;
    line_add(first, "%s 0x%llx", report_accessor(report, &pair->first, pair->first_access, NAME_COLUMNS).text,
             (unsigned long long)pair->address);
    add_where(report, &pair->first, first);
    line_add(second, "then %s it", report_accessor(report, &pair->second, pair->second_access, NAME_COLUMNS).text);
    add_where(report, &pair->second, second);
    return true;
}

struct line opening_default_stream(const struct report *report)
{
    static const char *const words[DEFAULT_COSTS] = {
        [DEFAULT_UNUSED] = "not used",
        [DEFAULT_ALONE] = "nothing to gain: one thread, one stream",
        [DEFAULT_NO_WAIT] = "nothing to gain: no call waited longer because of it",
        [DEFAULT_NEEDED] = "nothing to gain: results need the order that it keeps",
        [DEFAULT_UNKNOWN] = "what it costs is unknown: no host times",
    };
    struct default_stream found = report_default_stream(report);
    struct line line = {0};
    line_add(&line, "Default stream%s: ", report->totals.remapped != 0 ? " (moved)" : "");
    if (found.cost == DEFAULT_UP_TO)
        line_add(&line, "it costs 0 to %s of %s (%u %%)", text_ns(found.most_ns).text, text_ns(report->totals.run_ns).text,
                 report_percent(found.most_ns, report->totals.run_ns));
    else
        line_add(&line, "%s", words[found.cost]);
    return line;
}

struct line opening_blocked(const struct report *report)
{
    const struct report_totals *totals = &report->totals;
    struct line line = {0};
    if (!trace_has_time(&report->trace))
        line_add(&line, "Blocked: unknown");
    else if (totals->blocked_ns == 0)
        line_add(&line, "Blocked: %s", totals->untimed_waits != 0 ? "unknown" : "no call waited");
    else
        line_add(&line, "Blocked: %s, %u %% of the threads' time", text_ns(totals->blocked_ns).text,
                 report_percent(totals->blocked_ns, totals->threads_ns));
    line_add(&line, "; %s", report_gpu_time(totals));
    return line;
}

struct line opening_startup(const struct report *report)
{
    static const char *const words[STARTUP_KINDS] = {"allocating", "pinning", "loading code"};
    const struct startup *startup = &report->startup;
    struct line line = {0};
    uint64_t all = startup->ns[STARTUP_ALLOC] + startup->ns[STARTUP_PIN] + startup->ns[STARTUP_LOAD];
    if (all == 0)
        return line;
    line_add(&line, "Start-up%s: ", startup->over ? "" : ", no kernel was launched");
    bool some = false;
    for (unsigned i = 0; i < STARTUP_KINDS; i++) {
        if (startup->ns[i] != 0)
            line_add(&line, "%s%s %s", some ? ", " : "", text_ns(startup->ns[i]).text, words[i]);
        some |= startup->ns[i] != 0;
    }
    return line;
}

const char *opening_cause_name(const struct report *report, const struct finding *finding)
{
    const char *library = finding->fold == FOLD_LIBRARY ? library_of(&report->trace.defs, finding->stack) : NULL;
    return library != NULL ? library : finding->rule->id;
}

static struct cause *cause_of(const struct report *report, const struct finding *finding, struct cause *causes,
                              size_t *count)
{
    const char *name = opening_cause_name(report, finding);
    for (size_t i = 0; i < *count; i++)
        if (strcmp(causes[i].name, name) == 0)
            return &causes[i];
    if (*count == CAUSES_MOST)
        return &causes[CAUSES_MOST - 1];
    causes[*count] = (struct cause){.name = name, .library = name != finding->rule->id, .fold = finding->fold};
    return &causes[(*count)++];
}

static int by_cost(const void *a, const void *b)
{
    const struct cause *one = a, *two = b;
    if (one->host_ns != two->host_ns)
        return one->host_ns > two->host_ns ? -1 : 1;
    return one->calls != two->calls ? (one->calls > two->calls ? -1 : 1) : strcmp(one->name, two->name);
}

size_t opening_causes(const struct report *report, struct cause causes[CAUSES_MOST])
{
    size_t count = 0;
    for (size_t i = report_shown(report); i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        struct cause *cause = cause_of(report, finding, causes, &count);
        cause->findings++;
        cause->calls += finding->count;
        cause->known += finding->known;
        if (__builtin_add_overflow(cause->host_ns, finding->host_ns, &cause->host_ns))
            cause->host_ns = UINT64_MAX;
    }
    if (count != 0)
        qsort(causes, count, sizeof causes[0], by_cost);
    return count;
}

struct line opening_cause(const struct cause *cause)
{
    struct line line = {0};
    line_add(&line, "%s%s: %s", cause->library ? "inside " : "", cause->name,
             cause->known != 0 ? text_ns(cause->host_ns).text : "no known cost");
    line_add(&line, " in %s call%s", text_count(cause->calls).text, cause->calls == 1 ? "" : "s");
    if (cause->findings > 1)
        line_add(&line, " at %s places", text_count(cause->findings).text);
    return line;
}

struct line opening_floor(const struct report *report)
{
    struct line line = {0};
    uint64_t ns = floor_ns(report->floor, report->totals.run_ns);
    line_add(&line, "%s", text_ns(ns).text);
    if (ns > report->floor.ns)
        line_add(&line, " (%g %% of the run)", report->floor.percent);
    return line;
}

/* Whether the run left default-stream work where the program put it. */
static bool left_alone(const struct report *report)
{
    const char *policy = report_policy(report);
    return strcmp(policy, "observe") == 0 || strcmp(policy, "none") == 0;
}

struct line opening_next(const struct report *report, const char *file)
{
    struct outcome outcome = report_outcome(report);
    struct default_stream cost = report_default_stream(report);
    struct line line = {0};
    if (outcome.finding != NULL)
        line_add(&line, "ptds report --finding %zu %s", opening_number(report, outcome.finding), file);
    else if (left_alone(report) && cost.most_ns >= floor_ns(report->floor, report->totals.run_ns) && cost.most_ns != 0)
        line_add(&line, "ptds run --policy guarded -- %.40s ...", text_base(report->trace.header.program));
    else if (report_shown(report) != 0)
        line_add(&line, "ptds report --finding 1 %s", file);
    else
        line_add(&line, "ptds report --all %s", file);
    return line;
}
