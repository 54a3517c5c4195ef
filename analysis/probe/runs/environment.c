/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets the variables of a run. Called in the child, between fork and exec, of a process with one thread. Must not leave the
 * shim in a bare run.
 */
#include "analysis/probe/runs/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/record/moments.h"

enum { PRELOAD_ROOM = 1 << 16 };

static bool is_own(const char *own, const char *name, size_t size)
{
    size_t tail = strlen(own);
    return size >= tail && memcmp(name + size - tail, own, tail) == 0 && (size == tail || name[size - tail - 1] == '/');
}

/* A list of libraries. */
struct list {
    char *out;
    size_t room;
    int used;
};

static bool fits(const struct list *list)
{
    return list->used >= 0 && (size_t)list->used < list->room;
}

static void add(struct list *list, const char *name, size_t size)
{
    if (fits(list) && size != 0)
        list->used += snprintf(list->out + list->used, list->room - (size_t)list->used, "%s%.*s",
                               list->used != 0 ? ":" : "", (int)size, name);
}

/* Adds the names in `there` whose file is not called `own`, in whatever folder. */
static void add_others(struct list *list, const char *there, const char *between, const char *own)
{
    while (there != NULL && *there != 0) {
        size_t size = strcspn(there, between);
        if (!is_own(own, there, size))
            add(list, there, size);
        there += size + (there[size] != 0);
    }
}

bool environment_preload(const char *library, const char *there, char *out, size_t room)
{
    struct list list = {.out = out, .room = room};
    out[0] = 0;
    add_others(&list, there, " :", "libptds.so");
    if (library != NULL)
        add(&list, library, strlen(library));
    return fits(&list);
}

bool environment_audit(const char *auditor, const char *there, char *out, size_t room)
{
    struct list list = {.out = out, .room = room};
    out[0] = 0;
    add_others(&list, there, ":", "libptds_audit.so");
    if (auditor != NULL)
        add(&list, auditor, strlen(auditor));
    return fits(&list);
}

static bool set_list(const char *name, const char *own, bool (*make)(const char *, const char *, char *, size_t))
{
    char *value = malloc(PRELOAD_ROOM);
    bool sound = value != NULL && make(own, getenv(name), value, PRELOAD_ROOM);
    if (sound)
        sound = value[0] != 0 ? setenv(name, value, 1) == 0 : unsetenv(name) == 0;
    free(value);
    return sound;
}

/* Nothing is said on the program's own stderr but what went wrong: its output is compared. */
static bool set_or_not(const char *name, const char *value)
{
    return (value != NULL ? setenv(name, value, 1) : unsetenv(name)) == 0;
}

bool environment_set_auditor(const char *library, const char *auditor)
{
    if (library != NULL && auditor == NULL)
        return true; /* as the caller has it */
    return set_list("LD_AUDIT", library != NULL ? auditor : NULL, environment_audit);
}

bool environment_set(const char *library, const char *policy, const char *trace, const char *moments)
{
    if (!set_list("LD_PRELOAD", library, environment_preload) || !set_or_not(MOMENTS_VARIABLE, moments))
        return false;
    if (library == NULL)
        return setenv("PTDS_DISABLE", "1", 1) == 0; /* an enabled Python would bring it in by itself */
    bool sound = setenv("PTDS_POLICY", policy, 1) == 0 && setenv("PTDS_REPORT", "off", 1) == 0 &&
                 unsetenv("PTDS_LOG") == 0 && unsetenv("PTDS_DISABLE") == 0;
    return sound && set_or_not("PTDS_TRACE", trace);
}

static bool set_number(const char *name, unsigned value)
{
    char number[16];
    snprintf(number, sizeof number, "%u", value);
    return setenv(name, number, 1) == 0;
}

bool environment_set_lanes(unsigned lanes)
{
    return lanes == 0 || set_number("PTDS_LANES", lanes);
}

bool environment_set_explicit(bool moves)
{
    return !moves || setenv("PTDS_EXPLICIT_LEGACY", "remap", 1) == 0;
}

bool environment_set_seed(unsigned seed)
{
    return seed != 0 ? set_number("PTDS_SHAKE", seed) : unsetenv("PTDS_SHAKE") == 0;
}
