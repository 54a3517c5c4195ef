/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds check`: fails where traces show what they must not. For continuous integration, so it never passes on what it could
 * not see: a trace that is incomplete fails by itself.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/check.h"
#include "analysis/cmd/cmd.h"
#include "analysis/cmd/verbs.h"

static const char manual[] =
    "Fails if traces show certain findings: a line each on stdout, and a last line with the counts. Several traces, and "
    "folders of them, are checked together.\v"
    "Conditions of --fail-on, by commas: rule ids, any (above --floor), cost>DURATION (of one finding in all processes), "
    "verdict=needed, verdict=maybe_needed, verdict=not_needed (of implicit orders). Without any option: any.\n"
    "\n"
    "Exit status: 0 nothing fails, 1 findings, 2 usage, 3 a trace is unreadable or incomplete.\n"
    "\n"
    "Example:\n"
    "  ptds check app.ptds --fail-on 'sync-copy,cost>5ms'\n"
    "  ptds report --format json app.ptds > old.json; ptds check new.ptds --fail-on any --baseline old.json\n"
    "  ptds check app.ptds --no-block-in 'step:max 2ms'";

enum { KEY_ALLOW = 256, KEY_GROWTH, KEY_FLOOR, DEFAULT_GROWTH = 50 };
static const struct argp_option options[] = {
    {"fail-on", 'f', "LIST", 0, "what fails", 0},
    {"baseline", 'b', "FILE", 0, "an earlier JSON report: only what is new or has grown fails", 0},
    {"floor", KEY_FLOOR, "FLOOR", 0, "findings that save less are no \"any\": 1%,100us (default), 2ms, 0", 0},
    {"growth", KEY_GROWTH, "PERCENT", 0, "more host time than in the baseline that counts as grown (default 50)", 0},
    {"no-block-in", 'n', "REGION", 0, "no call in this region may wait; NAME, or \"NAME:max DURATION\" for each call", 0},
    {"allow-incomplete", KEY_ALLOW, NULL, 0, "check what is there of a damaged or cut trace", 0},
    {0},
};

struct check {
    struct conditions conditions;
    struct regions_check regions;
    struct edges_check edges;
    struct baseline baseline;
    bool has_baseline, has_growth, has_conditions, allow_incomplete;
    unsigned growth;
    struct floor floor;
    char **paths;
    int count;
    struct traces traces;
    struct folds folds;
    struct site_namer *namer;
    size_t failed[3]; /* findings, by enum baseline_says */
    size_t held_back; /* met a condition, but the baseline has them */
    bool incomplete;
};

static void parse_growth(struct check *check, char *arg, struct argp_state *state)
{
    char *end;
    unsigned long value = strtoul(arg, &end, 10);
    if (arg[0] < '0' || arg[0] > '9' || *end != 0 || value > 100000)
        argp_error(state, "--growth %s: a percentage", arg);
    check->growth = (unsigned)value;
    check->has_growth = true;
}

static void parse_list(struct check *check, int key, char *arg, struct argp_state *state)
{
    char error[CHECK_ERROR_SIZE];
    bool sound;
    if (key == 'f')
        sound = conditions_add(&check->conditions, arg, error);
    else if (key == 'b')
        sound = baseline_read(&check->baseline, arg, error);
    else
        sound = regions_add(&check->regions, arg, error);
    check->has_conditions |= key == 'f';
    check->has_baseline |= key == 'b';
    if (!sound && key == 'b')
        argp_failure(state, EXIT_USAGE, 0, "--baseline %s", error);
    else if (!sound)
        argp_error(state, "%s", error);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check *check = state->input;
    switch (key) {
    case 'b':
        if (check->has_baseline)
            argp_error(state, "one --baseline");
        parse_list(check, key, arg, state);
        return 0;
    case 'f':
    case 'n': parse_list(check, key, arg, state); return 0;
    case KEY_GROWTH: parse_growth(check, arg, state); return 0;
    case KEY_FLOOR:
        if (!floor_parse(arg, &check->floor))
            argp_error(state, "--floor %s: a percentage of the run, a time, or both: 1%%,100us", arg);
        return 0;
    case KEY_ALLOW: check->allow_incomplete = true; return 0;
    case ARGP_KEY_ARGS:
        check->paths = state->argv + state->next;
        check->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? ptds check TRACE..."); return 0;
    case ARGP_KEY_END:
        if (check->has_growth && !check->has_baseline)
            argp_failure(state, EXIT_USAGE, 0, "--growth is of a --baseline, which is not given");
        if (!check->has_conditions && check->regions.rules.count == 0)
            check->conditions.any = true;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char *site_of(const struct check *check, size_t process, uint32_t stack, char *out, size_t room)
{
    const struct report *report = &check->traces.list.items[process]->report;
    symbols_of(check->namer, &report->trace);
    return report_site(report, check->namer, stack, out, room) ? out : "an unrecorded place";
}

static void put_finding(const struct check *check, const struct folded *folded, enum baseline_says says)
{
    const struct finding *finding = folded->finding;
    const struct report *report = &check->traces.list.items[folded->process]->report;
    char site[400];
    printf("FAIL %s [%s]", finding->rule->id, folded->id.text);
    if (check->has_baseline)
        printf(" %s:", baseline_words[says]);
    printf(" %s in %s call%s", folded->known != 0 ? text_ns(folded->host_ns).text : "unknown time",
           text_count(folded->count).text, folded->count == 1 ? "" : "s");
    if (check->traces.list.count > 1)
        printf(" of %zu process%s", folded->shares.count, folded->shares.count == 1 ? "" : "es");
    if (finding->has_api)
        printf(", %s at %s", report_api(report, finding),
               site_of(check, folded->process, finding->stack, site, sizeof site));
    if (finding->rule->details != NULL)
        printf(", %s", finding->rule->details[finding->detail]);
    if (finding->text != NULL)
        printf(", %s", finding->text);
    printf("\n");
}

static void check_findings(struct check *check)
{
    for (size_t i = 0; i < check->folds.list.count; i++) {
        const struct folded *folded = &check->folds.list.items[i];
        const struct report *report = &check->traces.list.items[folded->process]->report;
        enum baseline_says says = BASELINE_NEW;
        if (!conditions_meet(&check->conditions, folded))
            continue;
        symbols_of(check->namer, &report->trace);
        if (check->has_baseline)
            says = baseline_ask(&check->baseline, folded,
                                identity_of_place(&report->trace, check->namer, folded->finding).text, check->growth);
        if (says == BASELINE_KNOWN) {
            check->held_back++;
            continue;
        }
        check->failed[says]++;
        put_finding(check, folded, says);
    }
}

static void put_breaks(const struct check *check)
{
    char site[400], who[160];
    for (size_t i = 0; i < check->regions.breaks.count; i++) {
        const struct region_break *one = &check->regions.breaks.items[i];
        const struct traced *traced = check->traces.list.items[one->process];
        traced_name(traced, who, sizeof who);
        printf("FAIL region %s blocked: %s waited %s time%s, %s in all, %s at most, at %s (%s)\n",
               check->regions.rules.items[one->rule].name, definitions_api_name(&traced->report.trace.defs, one->api),
               text_count(one->count).text, one->count == 1 ? "" : "s", text_ns(one->all_ns).text,
               text_ns(one->most_ns).text, site_of(check, one->process, one->stack, site, sizeof site), who);
    }
    for (size_t i = 0; i < check->edges.breaks.count; i++) {
        const struct edge_break *one = &check->edges.breaks.items[i];
        printf("FAIL implicit order, %s, %s, %s time%s: from %s", edge_kind_names[one->edge->kind],
               verdict_words[one->verdict], text_count(one->count).text, one->count == 1 ? "" : "s",
               site_of(check, one->process, one->edge->from.stack, site, sizeof site));
        printf(" to %s\n", site_of(check, one->process, one->edge->to.stack, site, sizeof site));
    }
}

static void say_incomplete(void *path, const char *line)
{
    fprintf(stderr, "ptds check: %s: incomplete: %s\n", (const char *)path, line);
}

static void check_regions_seen(struct check *check)
{
    for (size_t i = 0; i < check->regions.rules.count; i++) {
        const struct region_rule *rule = &check->regions.rules.items[i];
        if (rule->seen == 0)
            fprintf(stderr, "ptds check: incomplete: no region \"%s\" in any trace\n", rule->name);
        if (rule->unsure != 0)
            fprintf(stderr, "ptds check: incomplete: %s calls in region \"%s\" may have waited and were not timed\n",
                    text_count(rule->unsure).text, rule->name);
        check->incomplete |= rule->seen == 0 || rule->unsure != 0;
    }
}

static void check_edges_seen(struct check *check)
{
    if (check->edges.unjudged != 0)
        fprintf(stderr, "ptds check: incomplete: implicit orders were not analysed, so they have no verdicts\n");
    if (check->edges.ungrouped != 0)
        fprintf(stderr, "ptds check: incomplete: %s implicit orders are between places beyond the first %d pairs\n",
                text_count(check->edges.ungrouped).text, EDGE_GROUPS_MOST);
    check->incomplete |= check->edges.unjudged != 0 || check->edges.ungrouped != 0;
}

static bool check_processes(struct check *check)
{
    bool verdicts = conditions_want_verdicts(&check->conditions);
    for (size_t i = 0; i < check->traces.list.count; i++) {
        struct traced *traced = check->traces.list.items[i];
        check->incomplete |= traced_incomplete(traced, say_incomplete, traced->path) != 0;
        if (!regions_look(&check->regions, traced, i) ||
            (verdicts && !edges_look(&check->edges, &check->conditions, &traced->report, i)))
            return false;
    }
    return true;
}

static int conclude(const struct check *check)
{
    size_t findings = check->failed[BASELINE_NEW] + check->failed[BASELINE_GROWN];
    size_t breaks = check->regions.breaks.count + check->edges.breaks.count;
    printf("%zu of %zu findings fail", findings, check->folds.list.count);
    if (check->has_baseline)
        printf(" (%zu new, %zu grown; %zu in the baseline)", check->failed[BASELINE_NEW], check->failed[BASELINE_GROWN],
               check->held_back);
    if (check->regions.rules.count != 0)
        printf(", %zu places block in regions", check->regions.breaks.count);
    if (conditions_want_verdicts(&check->conditions))
        printf(", %zu implicit orders fail", check->edges.breaks.count);
    printf("; %zu process%s", check->traces.list.count, check->traces.list.count == 1 ? "" : "es");
    printf("%s\n", check->incomplete ? ", incomplete" : "");
    if (check->traces.unreadable != 0 || check->traces.list.count == 0 || (check->incomplete && !check->allow_incomplete))
        return EXIT_UNREADABLE;
    return findings + breaks != 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

static int run_check(struct check *check, char *name)
{
    if (!traces_take(&check->traces, name, check->paths, check->count, true))
        return EXIT_UNREADABLE;
    traces_weigh(&check->traces, check->floor);
    folds_make(&check->folds, &check->traces);
    if (!check_processes(check) || check->folds.out_of_memory) {
        fprintf(stderr, "%s: no memory for all of it\n", name);
        return EXIT_UNREADABLE;
    }
    check_findings(check);
    put_breaks(check);
    check_regions_seen(check);
    check_edges_seen(check);
    int status = conclude(check);
    if (fflush(stdout) == 0)
        return status;
    fprintf(stderr, "%s: stdout: %s\n", name, strerror(errno));
    return EXIT_UNREADABLE;
}

const struct argp check_argp = {.options = options, .parser = parse, .args_doc = "TRACE|FOLDER...", .doc = manual};

int cmd_check(int argc, char **argv)
{
    struct check check = {.growth = DEFAULT_GROWTH, .floor = FLOOR_DEFAULT};
    char name[] = "ptds check";
    argv[0] = name;
    argp_parse(&check_argp, argc, argv, 0, NULL, &check);
    check.namer = symbols_begin();
    int status = run_check(&check, name);
    folds_free(&check.folds);
    traces_free(&check.traces);
    edges_check_free(&check.edges);
    regions_free(&check.regions);
    conditions_free(&check.conditions);
    baseline_free(&check.baseline);
    symbols_end(check.namer);
    return status;
}
