/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose calls hand over work. Called for every lock of the process; must not allocate. The driver's and the shim's own
 * locks are no hand-overs. Python's interpreter lock is a condition and a mutex, and changes hands all the time without any
 * work changing hands; what Python programs hand over by (Lock, Condition, Queue) are semaphores.
 */
#include "interpose/handover/handover.h"

#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/base/sites.h"
#include "interpose/doors/driver.h"

enum verdict { COUNTS, PYTHON, NEVER };

static int is_python(const struct elf_object *object)
{
    char program[512];
    const char *path = elf_path(object, program, sizeof program), *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    return strncmp(file, "python", 6) == 0 || strncmp(file, "libpython", 9) == 0;
}

static int decide(const struct elf_object *object, const void *caller)
{
    uintptr_t own = (uintptr_t)&decide;
    if (driver_owns(caller))
        return NEVER;
    if (!object)
        return COUNTS;
    if (own >= object->base && own < object->end)
        return NEVER;
    return is_python(object) ? PYTHON : COUNTS;
}

static struct sites sites;

int handover_counts(const void *caller, int python_counts)
{
    int verdict = sites_verdict(&sites, caller, decide);
    return verdict == COUNTS || (verdict == PYTHON && python_counts);
}
