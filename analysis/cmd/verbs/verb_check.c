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
#include <unistd.h>

#include "analysis/base/sink.h"
#include "analysis/check/conditions.h"
#include "analysis/check/failed_edges.h"
#include "analysis/check/region_limits.h"
#include "analysis/cmd/verbs/check_look.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/number.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/cmd/verbs/check_update.h"
#include "analysis/compare/baseline.h"
#include "analysis/report/floor.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/check/check_views.h"

static const char manual[] =
    "Fails if traces show certain findings: a line each on stdout, and a last line with the counts. Several traces, and "
    "folders of them, are checked together: those that ran at the same time are one run, others its repetitions.\v"
    "Conditions of --fail-on, by commas: any (above --floor), error, warning, note (of this severity or a graver one, "
    "above "
    "--floor), rule ids, cost>DURATION (of one finding in a run), verdict=needed, verdict=maybe_needed, verdict=not_needed "
    "(of implicit orders); with a baseline also more-calls (a function calls the driver more often, or a new one does) and "
    "slower (calls wait longer; 3 runs at least on both sides); of runs with PTDS_DEVICE_TIMES gpu-slower (the default "
    "stream's work runs longer on the GPU) and gpu-idle (the GPU is idle for a larger share), likewise. Without any: any, "
    "and with a baseline more-calls; with --no-block-in and no baseline the regions alone.\n"
    "\n"
    "With a baseline only what is new or has grown fails, if it is beyond what runs differ by. How long calls wait differs "
    "much from run to run, so a finding that comes with time alone fails where 3 runs or more show it.\n"
    "\n"
    "Exit status: 0 nothing fails, 1 findings, 2 usage, 3 a trace is unreadable or incomplete.\n"
    "\n"
    "Example:\n"
    "  ptds check app.ptds --fail-on 'sync-copy,cost>5ms'\n"
    "  ptds check --update --baseline app.json good/    (five runs, say)\n"
    "  ptds check -b app.json --junit check.xml --markdown check.md new.ptds\n"
    "  ptds check app.ptds --no-block-in 'step:max 2ms'";

enum { KEY_ALLOW = 256, KEY_GROWTH, KEY_FLOOR, KEY_UPDATE, KEY_IGNORE, KEY_JUNIT, KEY_MARKDOWN, KEY_JSON };
static const struct argp_option options[] = {
    {"fail-on", 'f', "LIST", 0, "what fails", 0},
    {"ignore", KEY_IGNORE, "LIST", 0, "rules, and names of differences as more-calls, that never fail; may be repeated", 0},
    {"baseline", 'b', "FILE", 0, "earlier runs: only what is new or has grown fails", 0},
    {"update", KEY_UPDATE, NULL, 0, "add these runs to the baseline, which is made if it is not there; checks nothing", 0},
    {"floor", KEY_FLOOR, "FLOOR", 0, "findings that save less are no \"any\": 1%,100us (default), 2ms, 0", 0},
    {"growth", KEY_GROWTH, "PERCENT", 0, "more calls, or more time, than in the baseline that counts as grown (default 50)",
     0},
    {"no-block-in", 'n', "REGION", 0, "no call in this region may wait; NAME, or \"NAME:max DURATION\" for each call", 0},
    {"allow-incomplete", KEY_ALLOW, NULL, 0, "check what is there of a damaged or cut trace", 0},
    {"junit", KEY_JUNIT, "FILE", 0, "also as JUnit XML", 0},
    {"markdown", KEY_MARKDOWN, "FILE", 0, "also as Markdown, for a pull request or a job's summary", 0},
    {"json", KEY_JSON, "FILE", 0, "also as JSON", 0},
    {0},
};

static void parse_growth(struct check *check, char *arg, struct argp_state *state)
{
    check->tolerance.growth = number_growth(arg);
    if (check->tolerance.growth < 0)
        argp_error(state, "--growth %s: a percentage", arg);
    check->has_growth = true;
}

static void parse_list(struct check *check, int key, char *arg, struct argp_state *state)
{
    char error[CHECK_ERROR_SIZE];
    bool sound;
    if (key == 'f')
        sound = conditions_add(&check->conditions, arg, error);
    else if (key == KEY_IGNORE)
        sound = conditions_ignore(&check->conditions, arg, error);
    else
        sound = region_limits_add(&check->regions, arg, error);
    check->has_conditions |= key == 'f';
    if (!sound)
        argp_error(state, "%s", error);
}

static void read_baseline(struct check *check, struct argp_state *state)
{
    char error[COMPARE_ERROR_SIZE];
    bool there = access(check->baseline_path, F_OK) == 0;
    if ((there || !check->update) && !baseline_read(&check->baseline, check->baseline_path, error))
        argp_failure(state, EXIT_USAGE, 0, "--baseline %s%s", error, there ? "" : "; ptds check --update makes one");
}

/* Results are written one after the other, each in place of what is there. */
static void refuse_one_file(const struct check *check, struct argp_state *state)
{
    const struct {
        const char *option, *path;
    } files[] = {
        {"baseline", check->baseline_path}, {"junit", check->junit}, {"markdown", check->markdown}, {"json", check->json}};
    for (size_t i = 1; i < sizeof files / sizeof files[0]; i++)
        for (size_t j = 0; j < i && files[i].path != NULL; j++)
            if (files[j].path != NULL && output_place_is_one_file(files[i].path, files[j].path))
                argp_failure(state, EXIT_USAGE, 0, "--%s %s: that is the file of --%s", files[i].option, files[i].path,
                             files[j].option);
}

static void parse_end(struct check *check, struct argp_state *state)
{
    const struct conditions *conditions = &check->conditions;
    if (check->baseline_path == NULL && (check->update || check->has_growth))
        argp_failure(state, EXIT_USAGE, 0, "--%s is of a --baseline, which is not given",
                     check->update ? "update" : "growth");
    for (unsigned i = 0; i < DIFFERENCES && check->baseline_path == NULL; i++)
        if (conditions->differences[i])
            argp_failure(state, EXIT_USAGE, 0, "--fail-on %s is of a --baseline, which is not given", difference_names[i]);
    if (check->baseline_path != NULL)
        read_baseline(check, state);
    if (!check->has_conditions && (check->regions.rules.count == 0 || check->baseline_path != NULL))
        check->conditions.any = true;
    if (!check->update)
        refuse_one_file(check, state);
}

static void parse_path(const char **path, char *arg, const char *option, struct argp_state *state)
{
    if (*path != NULL)
        argp_error(state, "one --%s", option);
    *path = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check *check = state->input;
    switch (key) {
    case 'b': parse_path(&check->baseline_path, arg, "baseline", state); return 0;
    case KEY_JUNIT: parse_path(&check->junit, arg, "junit", state); return 0;
    case KEY_MARKDOWN: parse_path(&check->markdown, arg, "markdown", state); return 0;
    case KEY_JSON: parse_path(&check->json, arg, "json", state); return 0;
    case 'f':
    case 'n':
    case KEY_IGNORE: parse_list(check, key, arg, state); return 0;
    case KEY_GROWTH: parse_growth(check, arg, state); return 0;
    case KEY_FLOOR:
        if (!floor_parse(arg, &check->tolerance.floor))
            argp_error(state, "--floor %s: a percentage of the time from the first GPU work on, a time, or both: 1%%,100us",
                       arg);
        return 0;
    case KEY_ALLOW: check->allow_incomplete = true; return 0;
    case KEY_UPDATE: check->update = true; return 0;
    case ARGP_KEY_ARGS:
        check->paths = state->argv + state->next;
        check->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? ptds check TRACE..."); return 0;
    case ARGP_KEY_END: parse_end(check, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void to_file(struct text_sink *sink, const char *text, size_t size)
{
    fwrite(text, 1, size, sink->data);
}

/* One result to one place; NULL path: not asked for. */
static int write_one(const struct check *check, const char *name, const char *path, check_writer *writer)
{
    struct output_file output;
    struct output_inputs inputs = {check->paths, check->count};
    if (path == NULL)
        return EXIT_CLEAN;
    int status = output_file_begin(&output, name, path, inputs, false);
    if (status != EXIT_CLEAN)
        return status;
    struct text_sink sink = {.write = to_file, .data = output.file};
    return output_file_end(&output, writer(&check->results, &sink) == 0);
}

static int write_all(const struct check *check, const char *name)
{
    int status = write_one(check, name, "-", check_text);
    int junit = write_one(check, name, check->junit, check_junit);
    int markdown = write_one(check, name, check->markdown, check_markdown);
    int json = write_one(check, name, check->json, check_json);
    return status != EXIT_CLEAN ? status : junit != EXIT_CLEAN ? junit : markdown != EXIT_CLEAN ? markdown : json;
}

static int conclude(const struct check *check)
{
    if (results_inconclusive(&check->results))
        return EXIT_UNREADABLE;
    return results_failures(&check->results) != 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

static void say_gaps(const struct check *check, const char *name)
{
    for (size_t i = 0; i < check->results.incomplete.count; i++) {
        const char *line = check->results.incomplete.items[i];
        fprintf(stderr, "%s: %s%s\n", name, strstr(line, "incomplete: ") != NULL ? "" : "incomplete: ", line);
    }
    if (check->results.note[0] != 0)
        fprintf(stderr, "%s: %s\n", name, check->results.note);
}

static int run_check(struct check *check, char *name)
{
    if (!open_traces(&check->traces, name, check->paths, check->count, true))
        return EXIT_UNREADABLE;
    traces_weigh(&check->traces, check->tolerance.floor);
    int status = check_look(check, name);
    if (status != EXIT_CLEAN)
        return status;
    if (check->update && (check->traces.unreadable != 0 || check->traces.list.count == 0))
        return EXIT_UNREADABLE;
    if (check->update)
        return check_update(check, name);
    say_gaps(check, name);
    check->results.allows_incomplete = check->allow_incomplete;
    check->results.unreadable = check->traces.unreadable != 0 || check->traces.list.count == 0;
    status = write_all(check, name);
    return status != EXIT_CLEAN ? status : conclude(check);
}

static const struct argp check_argp = {.options = options, .parser = parse, .args_doc = "TRACE|FOLDER...", .doc = manual};

static int run_verb(int argc, char **argv)
{
    struct check check = {.tolerance = TOLERANCE_DEFAULT};
    char name[] = "ptds check";
    argv[0] = name;
    argp_parse(&check_argp, argc, argv, 0, NULL, &check);
    check.namer = symbolizer_begin();
    int status = run_check(&check, name);
    fold_free(&check.folds);
    traces_free(&check.traces);
    failed_edges_free(&check.edges);
    region_limits_free(&check.regions);
    conditions_free(&check.conditions);
    results_free(&check.results);
    history_free(&check.baseline);
    history_free(&check.now);
    symbolizer_end(check.namer);
    return status;
}

const struct verb verb_check = {"check", "fail on findings: for continuous integration", run_verb, &check_argp, NULL};
