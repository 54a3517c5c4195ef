/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds watch`: the loop of watch.c over the trace that its argument names.
 */
#include <argp.h>
#include <stdio.h>
#include <sys/stat.h>
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/watch/watch.h"

static const char manual[] =
    "Watches the trace of a running program; when a driver call has been in flight for longer than a limit, says who waits "
    "for whom: the call with its thread and stack, what was pending, and where the other threads are. Again when that "
    "changes; ends with the program.\v"
    "Waits for the file, which comes with the program's first CUDA call. Of a program that has been killed it says which "
    "calls it was in. Only calls that may block are watched; the program's "
    "children are not. Exit status: 0 every call returned in time, 1 one did not, 3 the trace could not be read.\n"
    "\n"
    "Example:\n"
    "  ptds run --trace app.ptds -- ./app &  ptds watch app.ptds --after 30s\n"
    "  ptds run --watchdog 30s -- ./app      (the same in one)";

static const struct argp_option options[] = {
    {"after", 'a', "DURATION", 0, "how long a call may take: 500ms, 10s (default), 2m", 0},
    {0},
};

enum { DEFAULT_SECONDS = 10 };

struct arguments {
    const char *trace;
    uint64_t after_ns;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'a':
        if (!watch_duration(arg, &arguments->after_ns))
            argp_error(state, "--after %s: a duration such as 500ms, 10s or 2m, at least 1ms", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->trace != NULL)
            argp_error(state, "one trace at a time");
        arguments->trace = arg;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? ptds watch TRACE"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp watch_argp = {.options = options, .parser = parse, .args_doc = "TRACE", .doc = manual};

static int run_verb(int argc, char **argv)
{
    struct arguments arguments = {.after_ns = (uint64_t)DEFAULT_SECONDS * 1000000000u};
    char name[] = "ptds watch";
    struct stat status;
    argv[0] = name;
    argp_parse(&watch_argp, argc, argv, 0, NULL, &arguments);
    if (stat(arguments.trace, &status) == 0 && S_ISDIR(status.st_mode)) {
        fprintf(stderr, "%s: %s: is a folder; one process is watched, by its trace\n", name, arguments.trace);
        return EXIT_USAGE;
    }
    return watch_trace(arguments.trace, arguments.after_ns);
}

const struct verb verb_watch = {"watch", "who waits for whom while a program hangs", run_verb, &watch_argp, NULL};
