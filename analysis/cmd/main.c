/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `ptds`: picks the verb. Exit status: 0, 1 a failed check, 2 usage, 3 trace unreadable; `ptds run` gives the
 * program's own.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/terminal/colour.h"
#include "analysis/cmd/truncated_trace.h"

/* In the order in which --help, the man page and the completions name them. */
const struct verb *const verbs[] = {
    &verb_probe, &verb_run,     &verb_report, &verb_diff, &verb_check,      &verb_export,
    &verb_watch, &verb_kernels, &verb_doctor, &verb_help, &verb_completion,
};
const size_t verbs_count = sizeof verbs / sizeof verbs[0];

/* libc looks for this one. */
__attribute__((visibility("default"))) const char *argp_program_version = "ptds " PTDS_VERSION;
static const char manual[] = "Runs CUDA programs with their default-stream work moved to other streams, and reports where "
                             "the default stream and other implicit "
                             "synchronisation cost time.\v"
                             "`ptds help VERB` tells more. Example:\n"
                             "  ptds run --policy guarded --trace app.ptds -- ./app && ptds report app.ptds";

struct choice {
    const struct verb *verb;
    int first;
};

/* "run, report or doctor" */
static const char *verb_names(void)
{
    static char names[256];
    size_t used = 0;
    for (size_t i = 0; i < verbs_count; i++) {
        int size = snprintf(names + used, sizeof names - used, "%s%s",
                            i == 0                ? ""
                            : i + 1 < verbs_count ? ", "
                                                  : " or ",
                            verbs[i]->name);
        used += size > 0 && (size_t)size < sizeof names - used ? (size_t)size : 0;
    }
    return names;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct choice *choice = state->input;
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "a verb is needed: %s", verb_names());
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    choice->verb = verb_find(arg);
    if (choice->verb == NULL)
        argp_error(state, "no verb \"%s\": %s", arg, verb_names());
    choice->first = state->next - 1;
    state->next = state->argc;
    return 0;
}

/* The verbs, before what follows the options. */
static char *filter(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t size = 0;
    (void)input;
    FILE *out = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&list, &size) : NULL;
    if (out == NULL)
        return (char *)text;
    fprintf(out, "Verbs:\n");
    for (size_t i = 0; i < verbs_count; i++)
        fprintf(out, "  %-12s%s\n", verbs[i]->name, verbs[i]->what);
    fprintf(out, "\n%s", text);
    fclose(out);
    return list;
}

const struct argp main_argp = {.parser = parse, .args_doc = "VERB ...", .doc = manual, .help_filter = filter};

/* A closed one of the first three would be the number of the next file, socket or trace that is opened, and what is said
 * would go there. In its place stands what can't be written to, or read from; a program that is run has it closed, as it
 * was.
 */
static void keep_first_descriptors(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", (file == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC); /* the lowest is taken */
}

/* Whatever wrote it, argp's own help, too: who ends well has written all. Verbs that end with more have said why. */
static void look_at_stdout(int status, void *verb)
{
    const char *const *name = verb;
    errno = 0;
    bool written = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (written || (status != EXIT_CLEAN && status != EXIT_FINDINGS))
        return;
    fprintf(stderr, "ptds%s%s: stdout: %s\n", **name != 0 ? " " : "", *name, strerror(errno != 0 ? errno : EIO));
    _exit(EXIT_UNREADABLE);
}

/* As a verb's first argument, which is no argument of a program that it runs. */
static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-?") == 0;
}

int main(int argc, char **argv)
{
    static const char *verb = "";
    struct choice choice = {0};
    keep_first_descriptors();
    on_exit(look_at_stdout, &verb); /* the first one: it comes after all others */
    argp_err_exit_status = EXIT_USAGE;
    if (argc < 2) { /* who knows nothing yet is told all; the status is that of a command that lacks its verb */
        argp_help(&main_argp, stderr, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, "ptds");
        return EXIT_USAGE;
    }
    argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    verb = choice.verb->name;
    colour_begin();
    truncated_trace_listen(choice.verb->name);
    if (asks_for_help(choice.first + 1 < argc ? argv[choice.first + 1] : ""))
        verb_shorten_help();
    return choice.verb->run(argc - choice.first, argv + choice.first);
}
