/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of variables that are nearly the library's: for the verbs that run a program under it. Says so, and changes
 * nothing.
 */
#include "analysis/cmd/variables.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {
#define ENV(VARIABLE, field, type, initial, allowed, doc) #VARIABLE,
#include "interpose/env/env.def"
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

/* Whether one letter too many, too few or wrong, or two that changed places, is all that is between them. */
static bool is_misspelt(const char *name, size_t size, const char *as)
{
    size_t other = strlen(as), least = size < other ? size : other, begin = 0, end = 0;
    while (begin < least && name[begin] == as[begin])
        begin++;
    while (end < least - begin && name[size - end - 1] == as[other - end - 1])
        end++;
    size_t left = size - begin - end, right = other - begin - end;
    bool swapped = left == 2 && right == 2 && name[begin] == as[begin + 1] && name[begin + 1] == as[begin];
    return left + right != 0 && ((left <= 1 && right <= 1) || swapped);
}

static bool is_variable(const char *name, size_t size)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (strlen(variables[i]) == size && strncmp(variables[i], name, size) == 0)
            return true;
    return false;
}

void variables_warn(const char *verb)
{
    for (char **at = environ; *at != NULL; at++) {
        size_t size = strcspn(*at, "=");
        for (size_t i = 0; i < VARIABLES && !is_variable(*at, size); i++)
            if (is_misspelt(*at, size, variables[i]))
                fprintf(stderr, "%s: %.*s is set, which nothing reads; is it %s?\n", verb, (int)size, *at, variables[i]);
    }
}
