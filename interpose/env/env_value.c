/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's variables as they were when the process began: programs clear their environment before they use CUDA, and
 * what was asked for holds all the same. Must not parse, complain or allocate: most processes never call CUDA.
 */
#include "interpose/env/env_value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "PTDS_";
/* "NAME=value", one behind the other. A copy, for programs also write over their first environment's memory. */
static char storage[16384];
static size_t used;
static const char
    *too_long; /* the last variable that did not fit, in the environment's own memory: env.c refuses its value */

static __attribute__((constructor)) void note_environment(void)
{
    for (char *const *at = environ; at && *at; at++) {
        size_t size = strncmp(*at, prefix, sizeof prefix - 1) == 0 ? strlen(*at) + 1 : 0;
        if (size > sizeof storage - used) {
            too_long = *at;
            continue;
        }
        memcpy(storage + used, *at, size);
        used += size;
    }
}

/* Behind "NAME="; NULL: it is another variable. */
static const char *value_in(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

const char *env_value(const char *name)
{
    const char *now = getenv(name);
    for (size_t at = 0; !now && at < used; at += strlen(storage + at) + 1)
        now = value_in(storage + at, name);
    return now || !too_long ? now : value_in(too_long, name);
}
