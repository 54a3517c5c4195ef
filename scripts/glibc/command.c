/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of `ptds` on a glibc before 2.34: there a program's start-up object named its constructors to glibc, and
 * today's leaves them to it. So whoever made this program start, they have run once before `main`. Called by the start-up
 * object, which the linker sends here (floor.bzl).
 */
#include <stdbool.h>

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
