/* SPDX-License-Identifier: Apache-2.0
 *
 * Says which CPython a program runs whose functions are in no call site: what stands there instead (libffi) does not say
 * why. Called by words.c; libc only, for the shim writes that line, too. Goes by the names of files, which say no patch
 * level.
 */
#include "analysis/views/python_words.h"

#include <string.h>

enum { FIRST = 12, LAST = 14 }; /* as interpose/record/stacks/python.h */

/* The rest of a name behind "3."; NULL: it is no file of an interpreter. "libpython3.11.so.1.0", "python3.11",
 * "_ctypes.cpython-311-x86_64-linux-gnu.so" */
static const char *minor_version(const char *name)
{
    static const char extension[] = ".cpython-3", interpreter[] = "python3.";
    const char *found = strstr(name, extension);
    if (found != NULL)
        return found + sizeof extension - 1;
    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    return strncmp(name, interpreter, sizeof interpreter - 1) == 0 ? name + sizeof interpreter - 1 : NULL;
}

/* Whether it is one of those; else `version` is what comes after "3.": "11", "13t" of one without the GIL, "12d" of one for
 * debugging. */
static bool is_read(const char *minor, char version[4])
{
    size_t digits = strspn(minor, "0123456789");
    unsigned number = 0;
    for (size_t i = 0; i < digits && i < 2; i++)
        number = number * 10 + (unsigned)(minor[i] - '0');
    bool plain = minor[digits] != 't' && minor[digits] != 'd';
    if (digits == 0 || digits > 2 || (plain && number >= FIRST && number <= LAST))
        return true;
    memcpy(version, minor, digits + !plain);
    version[digits + !plain] = 0;
    return false;
}

struct line python_words(const struct report *report)
{
    const struct definitions *defs = &report->trace.defs;
    struct line line = {0};
    for (size_t i = 0; i < defs->objects.count && line.used == 0; i++) {
        const char *path = defs->objects.items[i].text, *minor = path != NULL ? minor_version(text_base(path)) : NULL;
        char version[4];
        if (minor != NULL && !is_read(minor, version))
            line_add(&line, "call sites name no functions of Python: only CPython 3.%d to 3.%d has them, not 3.%s", FIRST,
                     LAST, version);
    }
    return line;
}
