/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds help` and `ptds completion`, and what the writers of the man page and the completions ask of the table of verbs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/man_page.h"
#include "analysis/cmd/help/shell_completion.h"
#include "analysis/cmd/help/verb.h"

static const char help_manual[] = "Says what a verb does and which options it has; without one, which verbs there are.\v"
                                  "Examples:\n"
                                  "  ptds help report\n"
                                  "  ptds help --man >ptds.1";

enum { KEY_MAN = 256 };
static const struct argp_option help_options[] = {
    {"man", KEY_MAN, NULL, 0, "the whole as a man page, for man(1)", 0},
    {0},
};

struct asked {
    const struct verb *verb;
    bool man;
};

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
    struct asked *asked = state->input;
    if (key == KEY_MAN) {
        asked->man = true;
        return 0;
    }
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (asked->verb != NULL)
        argp_error(state, "one verb at a time");
    asked->verb = verb_find(arg);
    if (asked->verb == NULL)
        argp_error(state, "no verb \"%s\"; ptds help names them", arg);
    return 0;
}

static const struct argp help_argp = {
    .options = help_options, .parser = parse_help, .args_doc = "[VERB]", .doc = help_manual};

/* As its --help says it, which ends the program. */
static int say(const struct verb *verb)
{
    char name[] = "ptds", help[] = "--help";
    char *arguments[] = {name, help, NULL};
    verb_shorten_help();
    return verb != NULL ? verb->run(2, arguments) : (int)argp_parse(&main_argp, 2, arguments, 0, NULL, NULL);
}

static int run_verb(int argc, char **argv)
{
    char name[] = "ptds help";
    struct asked asked = {0};
    argv[0] = name;
    argp_parse(&help_argp, argc, argv, 0, NULL, &asked);
    if (!asked.man)
        return say(asked.verb);
    man_page_write(stdout);
    return EXIT_CLEAN;
}

const struct verb verb_help = {"help", "what a verb does, and all of this as a man page", run_verb, &help_argp, NULL};
