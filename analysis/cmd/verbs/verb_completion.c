/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds completion`: the script of one shell.
 */
#include <stdio.h>
#include <string.h>
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/shell_completion.h"
#include "analysis/cmd/help/verb.h"

static const char completion_manual[] = "Writes a script that lets a shell complete ptds' verbs, options and arguments.\v"
                                        "Examples:\n"
                                        "  ptds completion bash >~/.local/share/bash-completion/completions/ptds\n"
                                        "  ptds completion zsh >~/.zfunc/_ptds      (a folder of fpath)\n"
                                        "  ptds completion fish >~/.config/fish/completions/ptds.fish";

static const struct shell {
    const char *name;
    void (*write)(FILE *out);
} shells[] = {{"bash", shell_completion_bash}, {"zsh", shell_completion_zsh}, {"fish", shell_completion_fish}};

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

static const struct argp completion_argp = {
    .parser = parse_completion, .args_doc = "bash|zsh|fish", .doc = completion_manual};

static int run_verb(int argc, char **argv)
{
    char name[] = "ptds completion";
    const struct shell *shell = NULL;
    argv[0] = name;
    argp_parse(&completion_argp, argc, argv, 0, NULL, &shell);
    shell->write(stdout);
    return EXIT_CLEAN;
}

const struct verb verb_completion = {"completion", "a script for bash, zsh or fish", run_verb, &completion_argp, NULL};
