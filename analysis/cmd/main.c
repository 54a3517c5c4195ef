/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `ptds`: picks the verb. Exit status: 0, 1 a failed check, 2 usage, 3 trace unreadable; `ptds run`
 * gives the program's own.
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cmd/cmd.h"

/* libc looks for this one. */
__attribute__((visibility("default"))) const char *argp_program_version = "ptds " PTDS_VERSION;
static const char manual[] =
    "Runs CUDA programs with their default-stream work remapped, and reports where the default stream and other implicit "
    "synchronisation cost time.\v"
    "Verbs:\n"
    "  probe     should a program use it, and what does it gain?\n"
    "  run       run a program under libptds.so\n"
    "  report    what a trace shows\n"
    "  check     fail on findings: for continuous integration\n"
    "  export    a trace for other tools: Perfetto, SQLite, flame graphs, SARIF\n"
    "  watch     who waits for whom while a program hangs\n"
    "  doctor    is everything in place on this machine?\n"
    "\n"
    "`ptds VERB --help` tells more. Example:\n"
    "  ptds run --policy guarded --trace app.ptds -- ./app && ptds report app.ptds";

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
    {"probe", cmd_probe}, /* one a line */
    {"run", cmd_run},       {"report", cmd_report}, {"check", cmd_check},
    {"export", cmd_export}, {"watch", cmd_watch},   {"doctor", cmd_doctor},
};

struct choice {
    const struct verb *verb;
    int first;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct choice *choice = state->input;
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "a verb is needed: probe, run, report, check, export, watch or doctor");
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(arg, verbs[i].name) == 0)
            choice->verb = &verbs[i];
    if (choice->verb == NULL)
        argp_error(state, "no verb \"%s\": probe, run, report, check, export, watch or doctor", arg);
    choice->first = state->next - 1;
    state->next = state->argc;
    return 0;
}

int main(int argc, char **argv)
{
    const struct argp argp = {.parser = parse, .args_doc = "VERB ...", .doc = manual};
    struct choice choice = {0};
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    return choice.verb->run(argc - choice.first, argv + choice.first);
}
