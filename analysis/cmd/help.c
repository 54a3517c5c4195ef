/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds help` and `ptds completion`, and what the writers of the man page and the completions ask of the table of verbs.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/cmd/cmd.h"
#include "analysis/cmd/verbs.h"

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

const struct argp help_argp = {.options = help_options, .parser = parse_help, .args_doc = "[VERB]", .doc = help_manual};

/* As its --help says it, which ends the program. */
static int say(const struct verb *verb)
{
    char name[] = "ptds", help[] = "--help";
    char *arguments[] = {name, help, NULL};
    return verb != NULL ? verb->run(2, arguments) : (int)argp_parse(&main_argp, 2, arguments, 0, NULL, NULL);
}

int cmd_help(int argc, char **argv)
{
    char name[] = "ptds help";
    struct asked asked = {0};
    argv[0] = name;
    argp_parse(&help_argp, argc, argv, 0, NULL, &asked);
    if (!asked.man)
        return say(asked.verb);
    man_write(stdout);
    return EXIT_CLEAN;
}

static const char completion_manual[] = "Writes a script that lets a shell complete ptds' verbs, options and arguments.\v"
                                        "Examples:\n"
                                        "  ptds completion bash >~/.local/share/bash-completion/completions/ptds\n"
                                        "  ptds completion zsh >~/.zfunc/_ptds      (a folder of fpath)\n"
                                        "  ptds completion fish >~/.config/fish/completions/ptds.fish";

static const struct shell {
    const char *name;
    void (*write)(FILE *out);
} shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

static error_t parse_completion(int key, char *arg, struct argp_state *state)
{
    const struct shell **shell = state->input;
    if (key == ARGP_KEY_NO_ARGS || (key == ARGP_KEY_ARG && *shell != NULL))
        argp_error(state, "which shell? bash, zsh or fish");
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(arg, shells[i].name) == 0)
            *shell = &shells[i];
    if (*shell == NULL)
        argp_error(state, "no completion for \"%s\": bash, zsh or fish", arg);
    return 0;
}

const struct argp completion_argp = {.parser = parse_completion, .args_doc = "bash|zsh|fish", .doc = completion_manual};

int cmd_completion(int argc, char **argv)
{
    char name[] = "ptds completion";
    const struct shell *shell = NULL;
    argv[0] = name;
    argp_parse(&completion_argp, argc, argv, 0, NULL, &shell);
    shell->write(stdout);
    return EXIT_CLEAN;
}

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verbs_count; i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

void verb_each_option(const struct verb *verb, void (*each)(void *data, const struct argp_option *option), void *data)
{
    static const struct argp_option help = {"help", '?', NULL, 0, "give this help list", 0};
    const struct argp_option *option = verb->argp != NULL ? verb->argp->options : NULL;
    for (; option != NULL && (option->name != NULL || option->key != 0 || option->doc != NULL); option++)
        if (option->name != NULL && (option->flags & OPTION_HIDDEN) == 0)
            each(data, option);
    each(data, &help);
}

static const char *arguments_of(const struct verb *verb)
{
    return verb->argp != NULL && verb->argp->args_doc != NULL ? verb->argp->args_doc : "";
}

enum expected verb_expects(const struct verb *verb)
{
    const char *arguments = arguments_of(verb);
    if (strstr(arguments, "TRACE") != NULL)
        return EXPECT_TRACE;
    if (strstr(arguments, "FILE") != NULL)
        return EXPECT_FILE;
    if (strstr(arguments, "PROGRAM") != NULL)
        return EXPECT_PROGRAM;
    return verb_words(verb) != NULL ? EXPECT_WORDS : EXPECT_NOTHING;
}

const char *verb_words(const struct verb *verb)
{
    static char names[256];
    const char *arguments = arguments_of(verb);
    if (strcmp(arguments, "[VERB]") == 0) {
        names[0] = 0;
        for (size_t i = 0; i < verbs_count; i++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", i != 0 ? "|" : "", verbs[i].name);
        }
        return names;
    }
    return arguments[0] >= 'a' && arguments[0] <= 'z' ? arguments : NULL;
}

enum expected option_expects(const struct verb *verb, const struct argp_option *option, const char **words)
{
    *words = NULL;
    if (option->arg == NULL)
        return EXPECT_NOTHING;
    for (const struct verb_values *values = verb->values; values != NULL && values->key != 0; values++)
        if (values->key == option->key)
            *words = values->words;
    if (*words != NULL)
        return EXPECT_WORDS;
    if (strstr(option->arg, "FILE") != NULL)
        return EXPECT_FILE;
    return strstr(option->arg, "FOLDER") != NULL ? EXPECT_FOLDER : EXPECT_ANY;
}
