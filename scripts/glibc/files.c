/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that glibc gave new names or versions after 2.17 and that need libc alone: of files, and numbers from text.
 * Linked into the shim and the command; called by whoever calls the function by its usual name (floor.bzl). Nothing here
 * may do more than that function does: the shim calls it before any constructor has run.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "scripts/glibc/first.h"

/* stat was a macro up to 2.32, of functions that are told which structure is meant; both structures are the same here. */
OLD(int, __xstat, (int version, const char *path, void *into));
OLD(int, __lxstat, (int version, const char *path, void *into));
OLD(int, __fxstat, (int version, int file, void *into));

INSTEAD(int, stat, (const char *path, void *into))
{
    return old___xstat(STAT_VERSION, path, into);
}

INSTEAD(int, stat64, (const char *path, void *into))
{
    return old___xstat(STAT_VERSION, path, into);
}

INSTEAD(int, lstat, (const char *path, void *into))
{
    return old___lxstat(STAT_VERSION, path, into);
}

INSTEAD(int, lstat64, (const char *path, void *into))
{
    return old___lxstat(STAT_VERSION, path, into);
}

INSTEAD(int, fstat, (int file, void *into))
{
    return old___fxstat(STAT_VERSION, file, into);
}

INSTEAD(int, fstat64, (int file, void *into))
{
    return old___fxstat(STAT_VERSION, file, into);
}

OLD(int, fcntl, (int file, int command, ...));

/* What comes third, if anything, is an int or a pointer, and is passed in a register of its own. */
INSTEAD(int, fcntl64, (int file, int command, ...))
{
    va_list more;
    va_start(more, command);
    void *third = va_arg(more, void *);
    va_end(more);
    return old_fcntl(file, command, third);
}

/* From 2.38 on, programs that may use more than C11 are given functions that also know 0b101. No text here has that. */
OLD(long, strtol, (const char *text, char **end, int base));
OLD(long long, strtoll, (const char *text, char **end, int base));
OLD(unsigned long, strtoul, (const char *text, char **end, int base));
OLD(unsigned long long, strtoull, (const char *text, char **end, int base));
OLD(int, vsscanf, (const char *text, const char *format, va_list into));

INSTEAD(long, __isoc23_strtol, (const char *text, char **end, int base))
{
    return old_strtol(text, end, base);
}

INSTEAD(long long, __isoc23_strtoll, (const char *text, char **end, int base))
{
    return old_strtoll(text, end, base);
}

INSTEAD(unsigned long, __isoc23_strtoul, (const char *text, char **end, int base))
{
    return old_strtoul(text, end, base);
}

INSTEAD(unsigned long long, __isoc23_strtoull, (const char *text, char **end, int base))
{
    return old_strtoull(text, end, base);
}

INSTEAD(int, __isoc23_sscanf, (const char *text, const char *format, ...))
{
    va_list into;
    va_start(into, format);
    int read = old_vsscanf(text, format, into);
    va_end(into);
    return read;
}
