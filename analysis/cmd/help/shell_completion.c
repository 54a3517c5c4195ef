/* SPDX-License-Identifier: Apache-2.0
 *
 * Completion scripts, made of the table of verbs. Called by `ptds completion`. The scripts ask nothing of the command: a
 * shell completes at once, wherever ptds is.
 */
#include "analysis/cmd/help/shell_completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/cmd/help/verb.h"

static bool is_short(const struct argp_option *option)
{
    return isgraph(option->key);
}

/* What has a | between, with a space there. */
static void put_spaced(FILE *out, const char *words)
{
    for (; *words != 0; words++)
        fputc(*words == '|' ? ' ' : *words, out);
}

/* Inside single quotes of a shell; `also` are characters that get a backslash. */
static void put_quoted(FILE *out, const char *text, const char *also)
{
    for (; *text != 0; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(also, *text) != NULL ? "\\" : "", *text);
    }
}

static void put_verbs(FILE *out)
{
    for (size_t i = 0; i < verbs_count; i++)
        fprintf(out, "%s ", verbs[i]->name);
}

/* bash */

struct bash {
    FILE *out;
    const struct verb *verb;
};

static void bash_name(void *data, const struct argp_option *option)
{
    fprintf(data, "--%s ", option->name);
    if (is_short(option) && option->key != '?')
        fprintf(data, "-%c ", option->key);
}

/* Options with a value, as a pattern of case. */
static void bash_with_value(void *data, const struct argp_option *option)
{
    FILE *out = data;
    if (option->arg == NULL)
        return;
    fprintf(out, "|--%s", option->name);
    if (is_short(option))
        fprintf(out, "|-%c", option->key);
}

static void bash_value(void *data, const struct argp_option *option)
{
    struct bash *bash = data;
    const char *words;
    enum expected expected = verb_option_expects(bash->verb, option, &words);
    if (expected == EXPECT_NOTHING)
        return;
    fprintf(bash->out, "        --%s", option->name);
    if (is_short(option))
        fprintf(bash->out, " | -%c", option->key);
    fputs(")\n", bash->out);
    if (expected == EXPECT_WORDS)
        fprintf(bash->out, "            COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n", words);
    else if (expected == EXPECT_FILE)
        fputs("            _ptds_files -f\n", bash->out);
    else if (expected == EXPECT_FOLDER)
        fputs("            _ptds_files -d\n", bash->out);
    fputs("            return\n            ;;\n", bash->out);
}

static void bash_arguments(FILE *out, const struct verb *verb)
{
    switch (verb_expects(verb)) {
    case EXPECT_FILE:
    case EXPECT_TRACE: fputs("            _ptds_files -f\n", out); return;
    case EXPECT_PROGRAM: fputs("            COMPREPLY=($(compgen -c -- \"$word\"))\n", out); return;
    case EXPECT_WORDS:
        fputs("            COMPREPLY=($(compgen -W '", out);
        put_spaced(out, verb_words(verb));
        fputs("' -- \"$word\"))\n", out);
        return;
    default: fputs("            :\n", out);
    }
}

/* Where the program begins, its own completion does. */
static void bash_program(FILE *out, const struct verb *verb)
{
    fputs("        for ((at++; at < COMP_CWORD; at++)); do\n"
          "            case ${COMP_WORDS[at]} in\n"
          "            --)\n"
          "                ((at++))\n"
          "                break\n"
          "                ;;\n"
          "            -=",
          out);
    verb_each_option(verb, bash_with_value, out);
    fputs(")\n"
          "                [[ ${COMP_WORDS[at + 1]} != = ]] || ((at++))\n"
          "                ((at++))\n"
          "                ;;\n"
          "            -*) ;;\n"
          "            *) break ;;\n"
          "            esac\n"
          "        done\n"
          "        if ((at < COMP_CWORD)); then\n"
          "            ! declare -F _command_offset >/dev/null || _command_offset \"$at\"\n"
          "            return\n"
          "        fi\n",
          out);
}

static void bash_verb(FILE *out, const struct verb *verb)
{
    struct bash bash = {out, verb};
    fprintf(out, "    %s)\n", verb->name);
    if (verb_expects(verb) == EXPECT_PROGRAM)
        bash_program(out, verb);
    fputs("        case $before in\n", out);
    verb_each_option(verb, bash_value, &bash);
    fputs("        esac\n        if [[ $word == -* ]]; then\n            COMPREPLY=($(compgen -W '", out);
    verb_each_option(verb, bash_name, out);
    fputs("' -- \"$word\"))\n        else\n", out);
    bash_arguments(out, verb);
    fputs("        fi\n        ;;\n", out);
}

void shell_completion_bash(FILE *out)
{
    fputs("# bash completion for ptds, made by `ptds completion bash`\n"
          "_ptds_files() {\n"
          "    local IFS=$'\\n'\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    COMPREPLY=($(compgen \"$1\" -- \"$word\"))\n"
          "}\n\n"
          "_ptds() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} at=1\n"
          "    COMPREPLY=()\n"
          "    # --option=value is three words here\n"
          "    if [[ $word == = ]]; then\n"
          "        word=\n"
          "    elif [[ $before == = ]]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_verbs(out);
    fputs("--help --version' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; i < verbs_count; i++)
        bash_verb(out, verbs[i]);
    fputs("    esac\n}\ncomplete -F _ptds ptds\n", out);
}

/* zsh */

static void zsh_value(FILE *out, const struct verb *verb, const struct argp_option *option)
{
    const char *words;
    enum expected expected = verb_option_expects(verb, option, &words);
    if (expected == EXPECT_NOTHING)
        return;
    fprintf(out, ":%s:", option->arg);
    if (expected == EXPECT_WORDS)
        fprintf(out, "(%s)", words);
    else if (expected == EXPECT_FILE)
        fputs("_files", out);
    else
        fputs(expected == EXPECT_FOLDER ? "_files -/" : "( )", out);
}

static void zsh_option(void *data, const struct argp_option *option)
{
    struct bash *zsh = data;
    if (is_short(option) && option->key != '?') {
        fprintf(zsh->out, "            '*-%c%s[", option->key, option->arg != NULL ? "+" : "");
        put_quoted(zsh->out, option->doc, "[]:\\");
        fputc(']', zsh->out);
        zsh_value(zsh->out, zsh->verb, option);
        fputs("' \\\n", zsh->out);
    }
    fprintf(zsh->out, "            '*--%s%s[", option->name, option->arg != NULL ? "=" : "");
    put_quoted(zsh->out, option->doc, "[]:\\");
    fputc(']', zsh->out);
    zsh_value(zsh->out, zsh->verb, option);
    fputs("' \\\n", zsh->out);
}

static void zsh_verb(FILE *out, const struct verb *verb)
{
    struct bash zsh = {out, verb};
    fprintf(out, "    %s)\n        _arguments -S \\\n", verb->name);
    verb_each_option(verb, zsh_option, &zsh);
    switch (verb_expects(verb)) {
    case EXPECT_FILE: fputs("            '*:file:_files'\n", out); break;
    case EXPECT_TRACE: fputs("            '*:trace:_files'\n", out); break;
    case EXPECT_PROGRAM:
        fputs("            '(-)1:program:_command_names -e' \\\n            '*::arguments:_normal'\n", out);
        break;
    case EXPECT_WORDS:
        fputs("            '1:word:(", out);
        put_spaced(out, verb_words(verb));
        fputs(")'\n", out);
        break;
    default: fputs("            ':::'\n", out);
    }
    fputs("        ;;\n", out);
}

void shell_completion_zsh(FILE *out)
{
    fputs("#compdef ptds\n# zsh completion for ptds, made by `ptds completion zsh`\n"
          "_ptds() {\n"
          "    local curcontext=$curcontext state line\n"
          "    local -a verbs\n"
          "    verbs=(\n",
          out);
    for (size_t i = 0; i < verbs_count; i++) {
        fprintf(out, "        '%s:", verbs[i]->name);
        put_quoted(out, verbs[i]->what, ":\\");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    _arguments -C '(- *)--help[give this help list]' '(- *)--version[print program version]' \\\n"
          "        '1:verb:->verb' '*::argument:->argument' && return\n"
          "    if [[ $state == verb ]]; then\n"
          "        _describe -t verbs verb verbs\n"
          "        return\n"
          "    fi\n"
          "    case $line[1] in\n",
          out);
    for (size_t i = 0; i < verbs_count; i++)
        zsh_verb(out, verbs[i]);
    fputs("    esac\n}\n"
          "if [[ $funcstack[1] == _ptds ]]; then\n    _ptds \"$@\"\nelse\n    compdef _ptds ptds\nfi\n",
          out);
}

/* fish */

static void fish_option(void *data, const struct argp_option *option)
{
    struct bash *fish = data;
    const char *words;
    enum expected expected = verb_option_expects(fish->verb, option, &words);
    fprintf(fish->out, "complete -c ptds -n '__fish_seen_subcommand_from %s' -l %s", fish->verb->name, option->name);
    if (is_short(option) && option->key != '?')
        fprintf(fish->out, " -s %c", option->key);
    if (expected == EXPECT_WORDS)
        fprintf(fish->out, " -x -a '%s'", words);
    else if (expected == EXPECT_FILE)
        fputs(" -r -F", fish->out);
    else if (expected == EXPECT_FOLDER)
        fputs(" -x -a '(__fish_complete_directories)'", fish->out);
    else if (expected != EXPECT_NOTHING)
        fputs(" -x", fish->out);
    fputs(" -d '", fish->out);
    put_quoted(fish->out, option->doc, "\\");
    fputs("'\n", fish->out);
}

/* In fish a quote inside single quotes has a backslash, which put_quoted's way is for as well. */
static void fish_verb(FILE *out, const struct verb *verb)
{
    struct bash fish = {out, verb};
    fprintf(out, "complete -c ptds -n __fish_use_subcommand -f -a %s -d '", verb->name);
    put_quoted(out, verb->what, "\\");
    fputs("'\n", out);
    verb_each_option(verb, fish_option, &fish);
    fprintf(out, "complete -c ptds -n '__fish_seen_subcommand_from %s' ", verb->name);
    switch (verb_expects(verb)) {
    case EXPECT_FILE:
    case EXPECT_TRACE: fputs("-F\n", out); return;
    case EXPECT_PROGRAM: fputs("-x -a '(__fish_complete_subcommand --fcs-skip=2)'\n", out); return;
    case EXPECT_WORDS:
        fputs("-f -a '", out);
        put_spaced(out, verb_words(verb));
        fputs("'\n", out);
        return;
    default: fputs("-f\n", out);
    }
}

void shell_completion_fish(FILE *out)
{
    fputs("# fish completion for ptds, made by `ptds completion fish`\n"
          "complete -c ptds -n __fish_use_subcommand -f -l help -d 'give this help list'\n"
          "complete -c ptds -n __fish_use_subcommand -f -l version -d 'print program version'\n",
          out);
    for (size_t i = 0; i < verbs_count; i++)
        fish_verb(out, verbs[i]);
}
