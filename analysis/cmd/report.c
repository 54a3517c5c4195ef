/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report`: traces in, text or JSON out. A trace that cannot be read does not keep the others from being reported.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cmd/cmd.h"
#include "analysis/report_json.h"

static const char manual[] =
    "Reports what traces show: hazards ranked by the host time they cost, with their call sites, and what could not be "
    "analysed.\v"
    "Several traces, and folders of them, are one report: processes and ranks side by side, the same finding of all of "
    "them "
    "as one.\n"
    "Exit status: 0 no findings, 1 findings, 3 a trace could not be read. JSON: one document.\n"
    "\n"
    "Example:\n"
    "  ptds report app.ptds\n"
    "  ptds report --format json rank*.ptds > ranks.json\n"
    "  ptds report traces/";

static const struct argp_option options[] = {
    {"format", 'f', "FORM", 0, "text (default) or json", 0},
    {"summary", 's', NULL, 0, "the summary of at most 15 lines, as text", 0},
    {0},
};

struct arguments {
    bool json, summary;
    char **traces;
    int count;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'f':
        arguments->json = strcmp(arg, "json") == 0;
        if (!arguments->json && strcmp(arg, "text") != 0)
            argp_error(state, "--format %s: text or json", arg);
        return 0;
    case 's': arguments->summary = true; return 0;
    case ARGP_KEY_ARGS:
        arguments->traces = state->argv + state->next;
        arguments->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? ptds report TRACE..."); return 0;
    case ARGP_KEY_END:
        if (arguments->json && arguments->summary)
            argp_error(state, "--summary is text: leave out --format json");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int write_report(const struct arguments *arguments, const struct report *report, struct site_namer *namer)
{
    struct text_sink sink = stdout_sink();
    symbols_of(namer, report);
    if (arguments->summary)
        report_summary(report, namer, &sink);
    else if (!arguments->json)
        report_text(report, namer, &sink);
    else if (report_json(report, namer, &sink) != 0)
        return -1;
    return 0;
}

static int report_one(const struct arguments *arguments, const char *path, struct site_namer *namer, struct report *report)
{
    char error[TRACE_ERROR_SIZE];
    struct trace_source source;
    if (trace_source_open(&source, path, error) != 0) {
        fprintf(stderr, "ptds report: %s\n", error);
        return EXIT_UNREADABLE;
    }
    int status = EXIT_UNREADABLE;
    if (report_build(report, &source, error) != 0)
        fprintf(stderr, "ptds report: %s\n", error);
    else if (write_report(arguments, report, namer) != 0)
        fprintf(stderr, "ptds report: %s: no memory for the report\n", path);
    else
        status = report->findings.count != 0 ? EXIT_FINDINGS : EXIT_CLEAN;
    report_end(report);
    trace_source_close(&source);
    return status;
}

int cmd_report(int argc, char **argv)
{
    const struct argp argp = {.options = options, .parser = parse, .args_doc = "TRACE|FOLDER...", .doc = manual};
    struct arguments arguments = {0};
    char name[] = "ptds report";
    argv[0] = name;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct report *report = calloc(1, sizeof *report);
    struct site_namer *namer = symbols_begin();
    bool many = !arguments.summary && is_many(arguments.traces, arguments.count);
    int worst = report != NULL ? EXIT_CLEAN : EXIT_UNREADABLE;
    if (many)
        worst = report_many(arguments.traces, arguments.count, arguments.json, namer);
    for (int i = 0; !many && report != NULL && i < arguments.count; i++) {
        int status = report_one(&arguments, arguments.traces[i], namer, report);
        worst = status > worst ? status : worst;
    }
    symbols_end(namer);
    free(report);
    if (fflush(stdout) != 0) {
        perror("ptds report: stdout");
        return EXIT_UNREADABLE;
    }
    return worst;
}
