/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets the variables of a run. Called in the child, between fork and exec, of a process with one thread. Must not leave the
 * shim in a bare run.
 */
#include "analysis/probe/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/record/moments.h"

enum { PRELOAD_ROOM = 1 << 16 };

static bool is_shim(const char *name, size_t size)
{
    static const char shim[] = "libptds.so";
    size_t own = sizeof shim - 1;
    return size >= own && memcmp(name + size - own, shim, own) == 0 && (size == own || name[size - own - 1] == '/');
}

bool environment_preload(const char *library, const char *there, char *out, size_t room)
{
    int used = snprintf(out, room, "%s", library != NULL ? library : "");
    while (there != NULL && *there != 0 && used >= 0 && (size_t)used < room) {
        size_t size = strcspn(there, " :");
        if (size != 0 && !is_shim(there, size))
            used += snprintf(out + used, room - (size_t)used, "%s%.*s", used != 0 ? ":" : "", (int)size, there);
        there += size + (there[size] != 0);
    }
    return used >= 0 && (size_t)used < room;
}

static bool preload(const char *library)
{
    char *value = malloc(PRELOAD_ROOM);
    bool sound = value != NULL && environment_preload(library, getenv("LD_PRELOAD"), value, PRELOAD_ROOM);
    if (sound)
        sound = value[0] != 0 ? setenv("LD_PRELOAD", value, 1) == 0 : unsetenv("LD_PRELOAD") == 0;
    free(value);
    return sound;
}

/* Nothing is said on the program's own stderr but what went wrong: its output is compared. */
static bool set_or_not(const char *name, const char *value)
{
    return (value != NULL ? setenv(name, value, 1) : unsetenv(name)) == 0;
}

bool environment_set(const char *library, const char *policy, const char *trace, const char *moments)
{
    if (!preload(library) || !set_or_not(MOMENTS_VARIABLE, moments))
        return false;
    if (library == NULL)
        return true;
    bool sound = setenv("PTDS_POLICY", policy, 1) == 0 && setenv("PTDS_REPORT", "off", 1) == 0 &&
                 unsetenv("PTDS_LOG") == 0 && unsetenv("PTDS_DISABLE") == 0;
    return sound && set_or_not("PTDS_TRACE", trace);
}

bool environment_set_lanes(unsigned lanes)
{
    char number[16];
    snprintf(number, sizeof number, "%u", lanes);
    return lanes == 0 || setenv("PTDS_LANES", number, 1) == 0;
}
