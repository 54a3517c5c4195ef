/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of `ptds report`. Strict: a value that is not understood, or that the chosen form has no use for, is a usage
 * error.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/duration.h"
#include "analysis/cmd/number.h"
#include "analysis/cmd/verbs/report_options.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/open_traces.h"
#include "analysis/report/floor.h"

static const char manual[] =
    "Reports what traces show: findings, ranked by the host time that they cost, with their call sites, and what could not "
    "be "
    "analysed. As text: first a summary that fits one screen, details on demand.\v"
    "--thread, --stream, --from and --to select calls; findings and costs are then of these calls alone. "
    "Findings are folded into one sequence where, in most calls of the first, the thread's next blocked call belonged to "
    "the second and began sooner than the first one's wait had lasted: removing the first wait only exposes the second.\n"
    "Several traces, and folders of them, are one report: first one screen, with --all processes and ranks side by side, "
    "the same finding of all of them as one.\n"
    "Exit status: 0 reported, whatever there was to say (ptds check fails on findings), 2 usage, 3 a trace could not be "
    "read, is "
    "damaged or cut (the rest of it is reported) or has no such thread, stream or finding, or the report could not be "
    "written. "
    "JSON: "
    "one document; --schema describes it.\n"
    "\n"
    "Examples:\n"
    "  ptds report app.ptds\n"
    "  ptds report --finding 1 app.ptds\n"
    "  ptds report --thread worker --from 1.5s --to 2s app.ptds\n"
    "  ptds report --repair app.ptds\n"
    "  ptds report --format html -o app.html app.ptds\n"
    "  ptds report --format json rank*.ptds > ranks.json\n"
    "  ptds report traces/";

enum {
    KEY_FINDING = 256,
    KEY_THREAD,
    KEY_STREAM,
    KEY_FROM,
    KEY_TO,
    KEY_ALL,
    KEY_WHAT_IF,
    KEY_REPAIR,
    KEY_FLOOR,
    KEY_SCHEMA,
    KEY_NO_PAGER,
    KEY_NO_PROGRESS
};

static const struct argp_option options[] = {
    {"format", 'f', "FORM", 0, "text (default), json or html", 0},
    {"output", 'o', "FILE", 0, "write there instead of to stdout; html needs it", 0},
    {"summary", 's', NULL, 0, "the summary of at most 15 lines that the library prints at exit", 0},
    {"all", KEY_ALL, NULL, 0, "every finding in full, exact counts, settings", 0},
    {"what-if", KEY_WHAT_IF, NULL, 0, "how long the run would take under each policy, of a trace of policy observe", 0},
    {"repair", KEY_REPAIR, NULL, 0,
     "the event waits that keep results right if the program is compiled with --default-stream per-thread, by call site",
     0},
    {"floor", KEY_FLOOR, "FLOOR", 0, "findings that save less than this get one line a cause: 1%,100us (default), 2ms, 0",
     0},
    {"finding", KEY_FINDING, "N|ID", 0, "one finding, by its number or the beginning of its id", 0},
    {"thread", KEY_THREAD, "UID|NAME", 0, "only calls of this thread, or of all threads of this name", 0},
    {"stream", KEY_STREAM, "UID", 0, "only calls on this stream, as named or as sent to", 0},
    {"from", KEY_FROM, "T", 0, "only calls from this time on, counted from the start: 1.5s, 200ms, 30us", 0},
    {"to", KEY_TO, "T", 0, "only calls before this time", 0},
    {"schema", KEY_SCHEMA, NULL, 0, "the JSON schema of --format json, and no report", 0},
    {"no-pager", KEY_NO_PAGER, NULL, 0, "no $PAGER (or less) for text on a terminal", 0},
    {"no-progress", KEY_NO_PROGRESS, NULL, 0, "no line of progress on a terminal", 0},
    {0},
};

static void set_form(struct report_options *out, const char *arg, struct argp_state *state)
{
    static const char *const forms[] = {"text", "json", "html"};
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(arg, forms[i]) == 0) {
            out->form = (enum report_form)i;
            return;
        }
    }
    argp_error(state, "--format %s: text, json or html", arg);
}

static uint64_t time_of(const char *name, const char *arg, struct argp_state *state)
{
    uint64_t ns = 0;
    if (!duration_read(arg, &ns))
        argp_error(state, "%s %s: a time with its unit, " DURATION_WORDS, name, arg);
    return ns;
}

static uint32_t stream_of(const char *arg, struct argp_state *state)
{
    unsigned long value;
    if (!number_between(arg[0] == '#' ? arg + 1 : arg, 1, UINT32_MAX, &value))
        argp_error(state, "--stream %s: a stream's number, as in \"moved stream 3\"", arg);
    return (uint32_t)value;
}

static void check(const struct report_options *out, struct argp_state *state)
{
    bool selects = !selection_is_all(&out->selection), many = open_traces_are_many(out->traces, out->count);
    if (out->form != FORM_TEXT && (out->summary || out->all || out->finding != NULL))
        argp_error(state, "--summary, --all and --finding are of the text report: leave out --format");
    if (out->summary + out->all + (out->finding != NULL) > 1)
        argp_error(state, "--summary, --all, --finding: one of them");
    if (out->what_if && (selects || many || out->form == FORM_HTML || out->summary || out->all || out->finding != NULL))
        argp_error(state, "--what-if is of one whole trace, as text or JSON");
    if (out->repair && (selects || out->what_if || out->summary || out->finding != NULL))
        argp_error(state, "--repair is of whole traces, by itself");
    if (out->schema && out->count != 0)
        argp_error(state, "--schema is of no trace");
    if (out->summary && selects)
        argp_error(state, "--summary is of the whole trace: leave out --thread, --stream, --from and --to");
    if (out->form == FORM_HTML && out->output == NULL)
        argp_error(state, "--format html needs -o FILE");
    if (many && (selects || out->finding != NULL))
        argp_error(state, "--finding, --thread, --stream, --from and --to are of one trace");
    if (out->selection.has_from && out->selection.has_to && out->selection.from_ns >= out->selection.to_ns)
        argp_error(state, "--from must be before --to");
}

static error_t parse_selection(int key, char *arg, struct argp_state *state)
{
    struct selection *selection = &((struct report_options *)state->input)->selection;
    switch (key) {
    case KEY_THREAD: selection->thread = arg; return 0;
    case KEY_STREAM: selection->stream = stream_of(arg, state); return 0;
    case KEY_FROM:
        selection->from_ns = time_of("--from", arg, state);
        selection->has_from = true;
        return 0;
    case KEY_TO:
        selection->to_ns = time_of("--to", arg, state);
        selection->has_to = true;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_options *out = state->input;
    switch (key) {
    case 'f': set_form(out, arg, state); return 0;
    case 'o': out->output = arg; return 0;
    case 's': out->summary = true; return 0;
    case KEY_ALL: out->all = true; return 0;
    case KEY_WHAT_IF: out->what_if = true; return 0;
    case KEY_REPAIR: out->repair = true; return 0;
    case KEY_FLOOR:
        if (!floor_parse(arg, &out->floor))
            argp_error(state, "--floor %s: a percentage of the time from the first GPU work on, a time, or both: 1%%,100us",
                       arg);
        return 0;
    case KEY_FINDING:
        if (arg[0] == 0)
            argp_error(state, "--finding: a number or the beginning of an id");
        out->finding = arg[0] == '#' ? arg + 1 : arg;
        return 0;
    case KEY_SCHEMA: out->schema = true; return 0;
    case KEY_NO_PAGER: out->pager = false; return 0;
    case KEY_NO_PROGRESS: out->progress = false; return 0;
    case ARGP_KEY_ARGS:
        out->traces = state->argv + state->next;
        out->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (!out->schema)
            argp_error(state, "which trace? ptds report TRACE...");
        return 0;
    case ARGP_KEY_END: check(out, state); return 0;
    default: return parse_selection(key, arg, state);
    }
}

const struct argp report_options_argp = {.options = options, .parser = parse, .args_doc = "TRACE|FOLDER...", .doc = manual};
const struct verb_values report_options_values[] = {{'f', "text json html"}, {0, NULL}};

void report_options_parse(struct report_options *out, int argc, char **argv)
{
    static char name[] = "ptds report";
    *out = (struct report_options){.pager = true, .progress = true, .floor = FLOOR_DEFAULT};
    argv[0] = name;
    argp_parse(&report_options_argp, argc, argv, 0, NULL, out);
}
