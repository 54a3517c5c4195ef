/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds diff`: what changed between two sets of runs. It tells and fails nothing; `ptds check` is the gate.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/sink.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/number.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/report/floor.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/compare/diff_views.h"
#include "analysis/views/compare/diff_words.h"

static const char manual[] =
    "Says what changed from A to B: which findings and calls are new, gone, more, less, slower or faster, a run. A and B "
    "are "
    "traces, folders of them, or baselines of ptds check. Traces that were recorded at the same time are processes of one "
    "run, "
    "others are repetitions, and what these differ by is no change.\v"
    "How often a function calls hardly differs from run to run, how long it waits does: with fewer than 3 runs on a side "
    "what changed in time alone is told as what may be chance.\n"
    "\n"
    "Exit status: 0 compared, 2 usage, 3 a trace could not be read, is damaged or cut (the rest of it is compared), or the "
    "output could not be written.\n"
    "\n"
    "Example:\n"
    "  ptds diff old.ptds new.ptds\n"
    "  for i in 1 2 3 4 5; do ptds run --trace after/$i.ptds -- ./app; done\n"
    "  ptds diff before/ after/\n"
    "  ptds diff --format markdown -o diff.md baseline.json after/";

enum { KEY_FORMAT = 256, KEY_GROWTH, KEY_FLOOR };
static const struct argp_option options[] = {
    {"format", KEY_FORMAT, "FORM", 0, "text (default), markdown or json", 0},
    {"output", 'o', "FILE", 0, "default: stdout, as -", 0},
    {"all", 'a', NULL, 0, "what may be chance, too", 0},
    {"growth", KEY_GROWTH, "PERCENT", 0, "how much more or less is a change (default 10)", 0},
    {"floor", KEY_FLOOR, "FLOOR", 0, "least change of a time: 1%,100us of the run (default), and 1 ms", 0},
    {0},
};

struct form {
    const char *name;
    diff_writer *write;
};
static const struct form forms[] = {{"text", diff_text}, {"markdown", diff_markdown}, {"json", diff_json}};

struct arguments {
    const struct form *form;
    const char *output;
    struct tolerance tolerance;
    bool all;
    char **paths;
    int count;
};

static void parse_growth(struct arguments *arguments, char *arg, struct argp_state *state)
{
    arguments->tolerance.growth = number_growth(arg);
    if (arguments->tolerance.growth < 0)
        argp_error(state, "--growth %s: a percentage", arg);
}

static void parse_form(struct arguments *arguments, char *arg, struct argp_state *state)
{
    arguments->form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(arg, forms[i].name) == 0)
            arguments->form = &forms[i];
    if (arguments->form == NULL)
        argp_error(state, "--format %s: text, markdown or json", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_FORMAT: parse_form(arguments, arg, state); return 0;
    case 'o': arguments->output = arg; return 0;
    case 'a': arguments->all = true; return 0;
    case KEY_GROWTH: parse_growth(arguments, arg, state); return 0;
    case KEY_FLOOR:
        if (!floor_parse(arg, &arguments->tolerance.floor))
            argp_error(state, "--floor %s: a percentage of the run, a time, or both: 1%%,100us", arg);
        return 0;
    case ARGP_KEY_ARGS:
        arguments->paths = state->argv + state->next;
        arguments->count = state->argc - state->next;
        if (arguments->count != 2)
            argp_error(state, "two are compared: ptds diff BEFORE AFTER");
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "what with what? ptds diff BEFORE AFTER"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* A FIFO's writer may never come, and a pipe can be read once alone. What is not there is told by who reads it. */
static bool is_readable(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

/* Baselines are text, traces are not. */
static bool is_baseline(const char *path)
{
    FILE *file = open_traces_are_many((char **)&path, 1) ? NULL : fopen(path, "re");
    bool is = file != NULL && fgetc(file) == '{';
    if (file != NULL)
        fclose(file);
    return is;
}

static void say_incomplete(void *path, const char *line)
{
    fprintf(stderr, "ptds diff: %s: incomplete: %s\n", (const char *)path, line);
}

/* unspoilt: cleared where a trace is damaged or cut. */
static int take_traces(struct history *history, char *path, struct tolerance tolerance, char *name, bool *unspoilt)
{
    struct traces traces;
    struct site_namer *namer = symbolizer_begin();
    bool whole = open_traces(&traces, name, &path, 1, true);
    traces_weigh(&traces, tolerance.floor);
    for (size_t i = 0; i < traces.list.count; i++)
        traced_incomplete(traces.list.items[i], say_incomplete, traces.list.items[i]->path);
    *unspoilt &= !open_traces_any_damage(&traces);
    whole = whole && namer != NULL && history_of_traces(history, &traces, namer);
    int status = whole && traces.unreadable == 0 && traces.list.count != 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
    if (!whole)
        fprintf(stderr, "%s: %s: no memory for all of it\n", name, path);
    traces_free(&traces);
    symbolizer_end(namer);
    return status;
}

static int take(struct history *history, char *path, struct tolerance tolerance, char *name, bool *unspoilt)
{
    char error[COMPARE_ERROR_SIZE];
    if (!is_readable(path)) {
        fprintf(stderr, "%s: %s: not a regular file\n", name, path);
        return EXIT_UNREADABLE;
    }
    if (!is_baseline(path))
        return take_traces(history, path, tolerance, name, unspoilt);
    if (baseline_read(history, path, error))
        return EXIT_CLEAN;
    fprintf(stderr, "%s: %s\n", name, error);
    return EXIT_UNREADABLE;
}

static void to_file(struct text_sink *sink, const char *text, size_t size)
{
    fwrite(text, 1, size, sink->data);
}

static int write_diff(const struct arguments *arguments, const struct comparison *comparison, const char *name)
{
    struct diff diff = {
        .comparison = comparison, .name = {arguments->paths[0], arguments->paths[1]}, .all = arguments->all};
    struct output_file output;
    struct output_inputs inputs = {arguments->paths, arguments->count};
    int status = output_file_begin(&output, name, arguments->output, inputs, false);
    if (status != EXIT_CLEAN)
        return status;
    struct text_sink sink = {.write = to_file, .data = output.file};
    return output_file_end(&output, arguments->form->write(&diff, &sink) == 0);
}

static int run_diff(const struct arguments *arguments, char *name)
{
    struct history sides[SIDES] = {{.out_of_memory = false}};
    struct comparison comparison;
    bool unspoilt = true;
    int status = take(&sides[BEFORE], arguments->paths[0], arguments->tolerance, name, &unspoilt);
    int after = take(&sides[AFTER], arguments->paths[1], arguments->tolerance, name, &unspoilt);
    compare(&comparison, &sides[BEFORE], &sides[AFTER], arguments->tolerance);
    status = status != EXIT_CLEAN ? status : after;
    if (status == EXIT_CLEAN)
        status = write_diff(arguments, &comparison, name);
    if (status == EXIT_CLEAN && !unspoilt)
        status = EXIT_UNREADABLE; /* what is left of the traces was compared */
    if (comparison.out_of_memory) {
        fprintf(stderr, "%s: no memory for all of it\n", name);
        status = EXIT_UNREADABLE;
    }
    compare_free(&comparison);
    history_free(&sides[BEFORE]);
    history_free(&sides[AFTER]);
    return status;
}

static const struct argp diff_argp = {
    .options = options, .parser = parse, .args_doc = "TRACE|FOLDER TRACE|FOLDER", .doc = manual};
static const struct verb_values diff_values[] = {{KEY_FORMAT, "text markdown json"}, {0, NULL}};

static int run_verb(int argc, char **argv)
{
    struct arguments arguments = {.form = &forms[0], .tolerance = {0.1, FLOOR_DEFAULT}};
    char name[] = "ptds diff";
    argv[0] = name;
    argp_parse(&diff_argp, argc, argv, 0, NULL, &arguments);
    return run_diff(&arguments, name);
}

const struct verb verb_diff = {"diff", "what changed between two sets of runs", run_verb, &diff_argp, diff_values};
