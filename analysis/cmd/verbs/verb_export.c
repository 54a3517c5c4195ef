/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds export`: traces in the forms of other tools. The file appears when it is whole (output.h), so that a failure leaves
 * nothing that looks like a result.
 */
#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/report/many/traces.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/export/export_job.h"

static const char manual[] =
    "Writes traces in the forms of other tools; several traces, and folders of them, go side by side into one file.\v"
    "Forms:\n"
    "  perfetto  for ui.perfetto.dev: threads, streams as named and as sent to, flows\n"
    "  sqlite    the tables of nsys' export: queries for that run on it\n"
    "  folded    stacks weighted by host time lost in ns, for flame graphs\n"
    "  sarif     SARIF 2.1.0, for code scanning: findings that have a source line\n"
    "\n"
    "Exit status: 0 written, 2 usage, 3 a trace could not be read, is damaged or cut (what is there is exported), or the "
    "file could not be written.\n"
    "\n"
    "Example:\n"
    "  ptds export app.ptds --to perfetto -o app.perfetto-trace\n"
    "  ptds export app.ptds --to folded | flamegraph.pl > lost.svg";

enum { KEY_ROOT = 256, KEY_ALL };
static const struct argp_option options[] = {
    {"to", 't', "FORM", 0, "perfetto, sqlite, folded or sarif", 0},
    {"output", 'o', "FILE", 0, "default: the first trace's name and the form's suffix; folded and sarif: stdout, as -o -",
     0},
    {"source-root", KEY_ROOT, "FOLDER", 0,
     "sarif: source files below it are named relative to it (default: the Git checkout that you are in)", 0},
    {"all", KEY_ALL, NULL, 0, "sarif: findings too that a report tells in one line with others", 0},
    {0},
};

struct arguments {
    const struct export_format *format;
    const char *output, *source_root;
    bool all;
    char **traces;
    int count;
};

static const struct export_format *find_format(const char *name)
{
    for (size_t i = 0; i < export_formats_count; i++)
        if (strcmp(name, export_formats[i].name) == 0)
            return &export_formats[i];
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 't':
        arguments->format = find_format(arg);
        if (arguments->format == NULL)
            argp_error(state, "--to %s: perfetto, sqlite, folded or sarif", arg);
        return 0;
    case 'o': arguments->output = arg; return 0;
    case KEY_ROOT: arguments->source_root = arg; return 0;
    case KEY_ALL: arguments->all = true; return 0;
    case ARGP_KEY_ARGS:
        arguments->traces = state->argv + state->next;
        arguments->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? ptds export TRACE... --to FORM"); return 0;
    case ARGP_KEY_END:
        if (arguments->format == NULL)
            argp_error(state, "to which form? --to perfetto, sqlite, folded or sarif");
        else if (arguments->format->needs_path && arguments->output != NULL && strcmp(arguments->output, "-") == 0)
            argp_error(state, "--to %s needs a file", arguments->format->name);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* "/src///" is "/src" */
static void drop_slashes(char *path)
{
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = 0;
}

/* "." and ".." are no names: with a suffix they would make a hidden file. */
static void name_of_trace(const char *given, char name[PATH_MAX])
{
    snprintf(name, PATH_MAX, "%s", given);
    drop_slashes(name);
    const char *base = text_base(name);
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        (void)!realpath(given, name);
}

/* Where the export goes; false: to stdout. */
static bool output_path(const struct arguments *arguments, char *path, size_t room)
{
    const char *given = arguments->output;
    char first[PATH_MAX];
    if (given != NULL && strcmp(given, "-") != 0) {
        snprintf(path, room, "%s", given);
        return true;
    }
    if (given != NULL || arguments->format->suffix == NULL)
        return false;
    name_of_trace(arguments->traces[0], first);
    snprintf(path, room, "%s%s", first, arguments->format->suffix);
    return true;
}

static int write_all(const struct arguments *arguments, const struct traces *traces, struct site_namer *namer,
                     struct output_file *output)
{
    struct folds folds;
    fold_make(&folds, traces);
    struct export_job job = {.traces = traces,
                             .folds = &folds,
                             .namer = namer,
                             .edges = edge_feed_of_build(),
                             .source_root = arguments->source_root,
                             .all = arguments->all,
                             .out = output->file,
                             .path = output->path,
                             .name = output->name};
    int status = arguments->format->write(&job);
    if (status != 0 && output->error == 0) /* else the reason is said at the end */
        fprintf(stderr, "ptds export: %s\n", job.error);
    if (folds.out_of_memory)
        fprintf(stderr, "ptds export: not enough memory for all findings\n");
    status = status == 0 && !folds.out_of_memory ? EXIT_CLEAN : EXIT_UNREADABLE;
    fold_free(&folds);
    return status;
}

static int export_traces(const struct arguments *arguments, char *name, struct output_file *output)
{
    struct traces traces = {0};
    int status = EXIT_UNREADABLE;
    struct site_namer *namer = symbolizer_begin();
    bool opened = (arguments->format->needs_reports ? open_traces : open_traces_unmade)(&traces, name, arguments->traces,
                                                                                        arguments->count, true);
    bool any = opened && namer != NULL && traces.list.count != 0;
    if (any)
        status = write_all(arguments, &traces, namer, output);
    int placed = output_file_end(output, any && status == EXIT_CLEAN);
    if (any && status == EXIT_CLEAN && placed == EXIT_CLEAN && output->kind != OUTPUT_STDOUT)
        fprintf(stderr, "ptds export: wrote %s\n", output->name);
    if (traces.unreadable != 0 || open_traces_any_damage(&traces) || placed != EXIT_CLEAN)
        status = EXIT_UNREADABLE;
    traces_free(&traces);
    symbolizer_end(namer);
    return status;
}

static const struct argp export_argp = {.options = options, .parser = parse, .args_doc = "TRACE|FOLDER...", .doc = manual};
static const struct verb_values export_values[] = {{'t', "perfetto sqlite folded sarif"}, {0, NULL}};

/* The root of the sources, absolute: as it was given, else that of the Git checkout that this folder is in. False: none. */
static bool find_root(const char *given, char *root)
{
    char inside[PATH_MAX + 8];
    if (given != NULL && given[0] == '/') { /* perhaps of another machine */
        bool fits = snprintf(root, PATH_MAX, "%s", given) < PATH_MAX;
        drop_slashes(root);
        return fits;
    }
    if (given != NULL)
        return realpath(given, root) != NULL;
    for (char *end = getcwd(root, PATH_MAX) != NULL ? root + strlen(root) : root; end != root; *end = 0) {
        snprintf(inside, sizeof inside, "%s/.git", root);
        if (access(inside, F_OK) == 0)
            return true;
        while (end > root && *--end != '/')
            ;
    }
    return false;
}

static int run_verb(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct output_file output;
    char name[] = "ptds export", path[PATH_MAX], root[PATH_MAX];
    argv[0] = name;
    argp_parse(&export_argp, argc, argv, 0, NULL, &arguments);
    arguments.source_root = find_root(arguments.source_root, root) ? root : NULL;
    bool to_file = output_path(&arguments, path, sizeof path);
    struct output_inputs inputs = {arguments.traces, arguments.count};
    int status = output_file_begin(&output, name, to_file ? path : NULL, inputs, arguments.format->needs_path);
    return status != EXIT_CLEAN ? status : export_traces(&arguments, name, &output);
}

const struct verb verb_export = {"export", "a trace for other tools: Perfetto, SQLite, flame graphs, SARIF", run_verb,
                                 &export_argp, export_values};
