/* SPDX-License-Identifier: Apache-2.0
 *
 * What the writers of the man page and of the completions, and `ptds help`, ask of the table of verbs (main.c). Prints
 * nothing.
 */
#include "analysis/cmd/help/verb.h"

#include <stdlib.h>
#include <string.h>

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verbs_count; i++)
        if (strcmp(name, verbs[i]->name) == 0)
            return verbs[i];
    return NULL;
}

void verb_shorten_help(void)
{
    setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
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
            snprintf(names + used, sizeof names - used, "%s%s", i != 0 ? "|" : "", verbs[i]->name);
        }
        return names;
    }
    return arguments[0] >= 'a' && arguments[0] <= 'z' ? arguments : NULL;
}

enum expected verb_option_expects(const struct verb *verb, const struct argp_option *option, const char **words)
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
