/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of `ptds` on a glibc before 2.34: there a program's start-up object named its constructors to glibc, and
 * today's leaves them to it. So whoever made this program start, they have run once before `main`. Called by the start-up
 * object, which the linker sends here (floor.bzl). Beside it, functions that have a new version in the same library.
 */
#include <stdbool.h>

#include "scripts/glibc/first.h"

typedef void (*constructor)(int, char **, char **);

int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);
extern const constructor __init_array_start[], __init_array_end[];

/* volatile: a compiler may run a constructor as simple as this one itself, and leave it out. */
static volatile bool constructed;

/* One of them, so it tells whether they ran. */
__attribute__((constructor)) static void note_constructed(void)
{
    constructed = true;
}

int __wrap_main(int argc, char **argv, char **environment)
{
    if (!constructed) {
        for (const constructor *next = __init_array_start; next < __init_array_end; next++)
            (*next)(argc, argv, environment);
    }
    return __real_main(argc, argv, environment);
}

/* The same name, but of the first version. Hidden: else the loader would find the one here in the place of libc's. */
#define FIRST_VERSION(result, name, parameters, values) \
    OLD(result, name, parameters); \
    __attribute__((visibility("hidden"))) result name parameters; \
    result name parameters \
    { \
        return old_##name values; \
    }

FIRST_VERSION(int, __libc_start_main,
              (int (*main)(int, char **, char **), int count, char **words, void (*begin)(void), void (*end)(void),
               void (*loaders_end)(void), void *stack),
              (main, count, words, begin, end, loaders_end, stack))
FIRST_VERSION(double, exp, (double of), (of))
FIRST_VERSION(double, log, (double of), (of))
FIRST_VERSION(double, pow, (double of, double to), (of, to))
