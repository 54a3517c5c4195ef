/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of variables that are nearly the library's: for the verbs that run a program under it. Says so, and changes
 * nothing.
 */
#include "analysis/cmd/variables.h"

#include <stdio.h>

#include "interpose/env/unknown.h"

static void say(const char *name, size_t size, const char *nearest, void *verb)
{
    fprintf(stderr, "%s: %.*s is set, which nothing reads", (const char *)verb, (int)size, name);
    if (nearest != NULL)
        fprintf(stderr, "; is it %s?", nearest);
    fputc('\n', stderr);
}

void variables_warn(const char *verb)
{
    unknown_each(say, (void *)verb);
}
