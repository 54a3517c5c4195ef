/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts into words what report/rank.h decided. Called by the text views; decides nothing but the words. libc only: the shim
 * writes these lines, too.
 */
#include "analysis/views/opening.h"

#include <string.h>

#include "analysis/base/line.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/rank.h"
#include "analysis/report/outcome.h"
#include "analysis/views/cost_words.h"
#include "analysis/views/file_word.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/stuck_words.h"
#include "analysis/views/verdict_words.h"

enum { INDENT = 2, NAME_COLUMNS = 44 };

size_t opening_number(const struct report *report, const struct finding *finding)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i] == finding)
            return i + 1;
    return 0;
}

static void add_records(const struct report *report, struct line *line)
{
    const uint64_t calls = report->totals.calls, recorded = report->trace.calls, seen = recorded - report->left_out;
    bool looked = outcome_of(report).lack == LACK_LOOK;
    if (report->has_counts && calls > seen)
        line_add(line, "%s of %s were not %s", text_count(calls - seen).text, text_plural(calls, "call").text,
                 looked ? "looked at" : "recorded");
    else
        line_add(line, "Not everything was %s", looked ? "looked at" : "recorded");
}

struct line opening_incomplete(const struct report *report)
{
    enum lack lack = outcome_of(report).lack;
    struct line line = {0};
    if (lack == LACK_LOOK || trace_has_gaps(&report->trace))
        add_records(report, &line);
    else if (lack == LACK_STREAMS)
        line_add(&line, "Not all streams could be followed");
    return line;
}

/* How they may have is in the longer report. */
struct line opening_past(const struct report *report)
{
    enum { MOST = 30 };
    const char *name = outcome_first_past(report);
    unsigned all = gap_words_past(report, NULL, NULL);
    struct line line = {0};
    if (name == NULL)
        return line;
    line_add(&line, "Calls may have gone past the shim (%.*s", MOST, name);
    if (all > 1)
        line_add(&line, " and %u more", all - 1);
    line_add(&line, ")");
    return line;
}

static const char plainly_right[] = "Right: no order that a result needs was missing";

bool opening_is_plainly_right(const struct report *report)
{
    return strcmp(opening_outcome(report).text, plainly_right) == 0;
}

struct line opening_outcome(const struct report *report)
{
    static const char *const as_far[LACKS] = {"", ", as far as it was looked at", ", as far as it was recorded",
                                              ", of what the shim saw", ", as far as it was followed"};
    struct outcome outcome = outcome_of(report);
    struct line line = {0};
    if (outcome_knows_nothing(report)) {
        line_add(&line, "Not known whether right: no driver call was recorded");
        return line;
    }
    if (outcome.stuck != NULL) {
        line = stuck_words_line(report, &outcome);
        if (outcome.doubt != DOUBT_NONE)
            line_add(&line, "; %s: #%zu %s", outcome_words[outcome.doubt], opening_number(report, outcome.finding),
                     outcome.finding->rule->id);
        return line;
    }
    if (outcome.doubt == DOUBT_NONE && outcome.little) {
        line_add(&line, "Looked at %s of the calls; in those no order that a result needs was missing",
                 text_share(outcome.seen, outcome.calls).text);
        return line;
    }
    if (outcome.doubt == DOUBT_NONE && outcome.possible != 0 && outcome.ordered) {
        line_add(&line, "%s%s: strict ordered %s that the program does not order (unordered-conflict)",
                 outcome_words[DOUBT_NONE], as_far[outcome.lack], text_plural(outcome.possible, "conflict").text);
        return line;
    }
    if (outcome.doubt == DOUBT_NONE && outcome.possible != 0) {
        line_add(&line, "%s%s (%s: unordered-conflict)", outcome_words[DOUBT_NONE],
                 outcome.complete ? ", as far as can be seen" : as_far[outcome.lack],
                 text_plural(outcome.possible, "possible conflict").text);
        return line;
    }
    if (outcome.doubt == DOUBT_NONE && outcome.by_host != 0) {
        line_add(&line, "%s%s (%s %s nobody waited for: pinned-reuse)", outcome_words[DOUBT_NONE],
                 outcome.complete ? ", for what the calls show" : as_far[outcome.lack], text_count(outcome.by_host).text,
                 outcome.by_host == 1 ? "copy" : "copies");
        return line;
    }
    if (outcome.doubt == DOUBT_NONE) {
        line_add(&line, "%s%s: no order that a result needs was missing", outcome_words[DOUBT_NONE], as_far[outcome.lack]);
        return line;
    }
    line_add(&line, "%s: #%zu %s", outcome_words[outcome.doubt], opening_number(report, outcome.finding),
             outcome.finding->rule->id);
    line_add_whole(&line, OPENING_COLUMNS, ", %s", verdict_words_doubt(report, outcome.finding));
    return line;
}

struct line opening_outcomes(const struct runs *runs)
{
    struct line line = {0};
    if (runs->stuck != 0)
        line_add(&line, "Stuck: %zu; ", runs->stuck);
    if (runs->may_be_stuck != 0)
        line_add(&line, "%s: %zu; ", runs->stuck != 0 ? "maybe" : "Maybe stuck", runs->may_be_stuck);
    for (unsigned doubt = 0; doubt < DOUBTS; doubt++)
        line_add(&line, "%s%s: %zu", doubt != 0 ? "; " : "", outcome_words[doubt],
                 runs->outcomes[doubt] - (doubt == DOUBT_NONE ? runs->little + runs->stuck + runs->may_be_stuck : 0));
    if (runs->little != 0)
        line_add(&line, "; less than half looked at: %zu", runs->little);
    if (runs->possible != 0)
        line_add(&line, "; possible conflicts in %zu", runs->possible);
    if (runs->incomplete != 0)
        line_add(&line, "; incomplete: %zu", runs->incomplete);
    return line;
}

static void add_where(const struct report *report, const struct edge_end *end, struct line *line)
{
    char text[300];
    line_add(line, " in thread %u", end->thread);
    if (end->stream == 0)
        return;
    report_words_id(report, FINDING_STREAMS, end->stream, text, sizeof text);
    line_add(line, ", %s", text);
}

bool opening_pair(const struct report *report, const struct edge_pair *pair, struct line *first, struct line *second)
{
    *first = *second = (struct line){0};
    if (pair == NULL || pair->first.ticks == 0)
        return false;
    bool known = pair->address != 0;
    enum access one = known ? pair->first_access : ACCESS_NONE, two = known ? pair->second_access : ACCESS_NONE;
    line_add(first, "%s", report_words_accessor(report, &pair->first, one, NAME_COLUMNS).text);
    if (known)
        line_add(first, " %s", report_words_memory(pair).text);
    add_where(report, &pair->first, first);
    line_add(second, "then %s%s", known ? "" : "perhaps on the same memory ",
             report_words_accessor(report, &pair->second, two, NAME_COLUMNS).text);
    if (known)
        line_add(second, " it");
    add_where(report, &pair->second, second);
    return true;
}

struct line opening_lost(const struct report *report)
{
    const struct edge_table *edges = &report->edges;
    struct line line = {0};
    if (!edges->analysed || report->totals.remapped == 0 ||
        edges->lost[LOSS_NONE] + edges->lost[LOSS_POSSIBLE] + edges->lost[LOSS_DEFINITE] == 0)
        return line;
    if (implicit_order_promised(&report->trace.defs))
        line_add(&line, "; %.20s keeps them", report_words_policy(report));
    else if (edges->lost[LOSS_DEFINITE] + edges->lost[LOSS_POSSIBLE] != 0)
        line_add(&line, "; gone: ");
    if (edges->lost[LOSS_DEFINITE] != 0)
        line_add(&line, "%s %s%s", text_count(edges->lost[LOSS_DEFINITE]).text, verdict_words[VERDICT_NEEDED],
                 edges->lost[LOSS_POSSIBLE] != 0 ? ", " : "");
    if (edges->lost[LOSS_POSSIBLE] != 0)
        line_add(&line, "%s %s", text_count(edges->lost[LOSS_POSSIBLE]).text,
                 edges->lost[LOSS_DEFINITE] != 0 ? "maybe" : verdict_words[VERDICT_MAYBE_NEEDED]);
    return line;
}

struct line opening_default_stream(const struct report *report)
{
    static const char *const words[DEFAULT_COSTS] = {
        [DEFAULT_UNUSED] = "not used",
        [DEFAULT_ALONE] = "nothing to gain: one thread, one stream",
        [DEFAULT_NO_WAIT] = "nothing to gain: no call waited longer because of it",
        [DEFAULT_NEEDED] = "nothing to gain: results need the order that it keeps",
        [DEFAULT_NO_FASTER] = "nothing to gain: replayed under each policy it is no faster",
        [DEFAULT_UNKNOWN] = "what it costs is unknown: no host times",
    };
    static const char *const as_far[LACKS] = {"", ", as looked at", ", as recorded", ", as seen", ", as followed"};
    /* Of a run that moved work "nothing to gain" would sound as if it had gained nothing. */
    static const char *const moved[DEFAULT_COSTS] = {
        [DEFAULT_ALONE] = "one thread, one stream: nothing to gain from it",
        [DEFAULT_NO_WAIT] = "no call waits longer because of it now",
        [DEFAULT_NEEDED] = "results need the order that it keeps",
    };
    struct default_stream found = default_cost_of(report);
    struct line line = {0};
    if (outcome_knows_nothing(report)) {
        line_add(&line, "Default stream: what it costs is unknown");
        return line;
    }
    enum lack lack = outcome_of(report).lack;
    bool sure = found.cost == DEFAULT_UNUSED && report->has_counts && outcome_first_past(report) == NULL;
    line_add(&line, "Default stream%s%s: ", report->totals.remapped != 0 ? " (moved)" : "", sure ? "" : as_far[lack]);
    if (found.cost == DEFAULT_UP_TO)
        cost_words_add(report, &found, &line);
    else if (found.cost == DEFAULT_NO_WAIT && found.or_more)
        line_add(&line, "no timed call waited longer because of it");
    else if (report->totals.remapped != 0 && moved[found.cost] != NULL)
        line_add(&line, "%s", moved[found.cost]);
    else
        line_add(&line, "%s", words[found.cost]);
    return line;
}

struct line opening_blocked(const struct report *report)
{
    const struct report_totals *totals = &report->totals;
    struct line line = {0};
    if (!outcome_knows_blocked(report))
        line_add(&line, "Blocked: unknown");
    else if (totals->blocked_ns == 0)
        line_add(&line, "Blocked: no call waited");
    else
        line_add(&line, "Blocked: %s, %s of the threads' time", text_ns(totals->blocked_ns).text,
                 text_share(totals->blocked_ns, totals->threads_ns).text);
    line_add(&line, "; %s", report_words_gpu_busy(totals).text);
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

/* Why each of a cause's findings is folded: all reasons, or none where they do not fit. */
static void add_folds(struct line *line, const struct cause *cause)
{
    struct line folds = {0};
    for (unsigned fold = FOLD_SHOWN + 1; fold < FOLDS; fold++) {
        bool of_each = cause->sum.findings > 1 && (fold == FOLD_FLOOR || fold == FOLD_ONCE);
        if ((cause->folds >> fold & 1) == 0 || fold == FOLD_NO_COST || fold == FOLD_LIBRARY)
            continue;
        line_add(&folds, "%s%s", folds.used != 0 ? " or " : of_each ? ", each " : ", ", fold_words[fold]);
    }
    line_add_whole(line, OPENING_COLUMNS - INDENT, "%s", folds.text);
}

/* "blocking-free: 27.7 ms in 1 call, happened once" */
struct line opening_cause(const struct cause *cause)
{
    struct line line = {0};
    line_add(&line, "%s%s: %s", cause->library ? "inside " : "", cause->name,
             cause->sum.known == 0     ? "no known cost"
             : cause->sum.host_ns == 0 ? "nothing to save"
                                       : text_ns(cause->sum.host_ns).text);
    line_add(&line, " in %s", text_plural(cause->sum.calls, "call").text);
    if (cause->sum.findings > 1)
        line_add(&line, ", %s call sites", text_count(cause->sum.findings).text);
    add_folds(&line, cause);
    return line;
}

/* The first finding that is told in this line. */
static const struct finding *first_of(const struct report *report, const struct cause *cause)
{
    for (size_t i = 0; i < report->findings.count && !cause->library; i++) {
        const struct finding *finding = report->findings.items[i];
        if (finding->fold != FOLD_SHOWN && finding->fold != FOLD_LIBRARY && strcmp(finding->rule->id, cause->name) == 0)
            return finding;
    }
    return NULL;
}

struct line opening_advice(const struct report *report)
{
    enum { MUCH = 10 }; /* percent */
    struct line line = {0};
    const struct cause *cause = report->sums.causes.count != 0 ? &report->sums.causes.items[0] : NULL;
    uint64_t all = report->totals.threads_ns;
    if (cause == NULL || cause->sum.host_ns == 0 || cause->sum.host_ns < all / 100 * MUCH)
        return line;
    const struct finding *first = first_of(report, cause);
    if (first != NULL)
        line_add(&line, "Up to %s of the threads' time in all. %s", text_share(cause->sum.host_ns, all).text,
                 finding_advice(first));
    return line;
}

void opening_cause_names(struct line *line, size_t columns, const struct sums *sums, size_t from)
{
    enum { MORE = 13 }; /* " and 1000 more" */
    size_t count = sums->causes.count;
    for (size_t i = from; i < count; i++)
        if (!line_add_whole(line, columns - (i + 1 < count ? MORE : 0), "%s %s", i != from ? "," : "",
                            sums->causes.items[i].name)) {
            line_add(line, " and %zu more", count - i);
            return;
        }
}

struct line opening_floor(const struct report *report)
{
    struct line line = {0};
    uint64_t ns = rank_floor_ns(report);
    line_add(&line, "%s", text_ns(ns).text);
    if (ns > report->floor.ns && report->totals.gpu_part_ns == 0)
        line_add(&line, " (%g %% of the run)", report->floor.percent);
    else if (ns > report->floor.ns)
        line_add(&line, " (%g %% of the GPU part)", report->floor.percent);
    return line;
}

struct line opening_nothing_found(const struct report *report)
{
    static const char *const parts[LACKS] = {"", "was looked at", "was recorded", "the shim saw", "could be followed"};
    enum lack lack = outcome_of(report).lack;
    struct line line = {0};
    if (outcome_knows_nothing(report)) {
        line_add(&line, "No findings: nothing was recorded");
        return line;
    }
    if (lack == LACK_NONE)
        line_add(&line, "No findings: ");
    else
        line_add(&line, "No findings in what %s: ", parts[lack]);
    line_add(&line, "%zu rules looked at %s", report->rules, text_plural(report->totals.recorded, "recorded call").text);
    return line;
}
