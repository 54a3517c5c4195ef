/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies at a path that is about to be written to, and whether it may be. Called by output_file.c. Must not change
 * anything.
 */
#include "analysis/cmd/output/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analysis/cmd/output/output_file.h"
#include "analysis/report/many/traces.h"

enum { LINKS_MOST = 40 };

/* The folder that a path's last name is in. */
static void folder_of(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        strcpy(folder, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A link in /proc leads to an open file, not to the name that it shows. */
static bool in_proc(const char *path)
{
    char folder[PATH_MAX];
    struct statfs status;
    folder_of(path, folder);
    return statfs(folder, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

static int own_descriptor(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX], own[64], *end;
    const char *slash = strrchr(path, '/');
    folder_of(path, folder);
    snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
    if (slash == NULL || realpath(folder, real) == NULL || strcmp(real, own) != 0)
        return -1;
    long number = strtol(slash + 1, &end, 10);
    return slash[1] != 0 && *end == 0 && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* One link further. False if it leads nowhere that can be named. */
static bool follow(char *path)
{
    char to[PATH_MAX], folder[PATH_MAX], next[PATH_MAX * 2];
    ssize_t size = readlink(path, to, sizeof to - 1);
    if (size <= 0)
        return false;
    to[size] = 0;
    folder_of(path, folder);
    if (to[0] == '/')
        snprintf(next, sizeof next, "%s", to);
    else
        snprintf(next, sizeof next, "%s/%s", folder, to);
    if (strlen(next) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(path, next);
    return true;
}

bool output_place_find(struct output_place *place, const char *path)
{
    struct stat link;
    *place = (struct output_place){.descriptor = -1};
    if (strlen(path) >= sizeof place->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(place->path, path);
    for (int links = 0; !in_proc(place->path); links++) {
        if (lstat(place->path, &link) != 0 || !S_ISLNK(link.st_mode))
            break;
        if (links == LINKS_MOST)
            errno = ELOOP;
        if (links == LINKS_MOST || !follow(place->path))
            return false;
    }
    place->descriptor = in_proc(place->path) ? own_descriptor(place->path) : -1;
    place->there = stat(place->path, &place->status) == 0;
    return place->there || errno == ENOENT;
}

static bool is_same(const struct stat *one, const struct stat *two)
{
    return one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

/* Of files that are not there yet: a name in a folder. */
static bool is_same_name(const struct output_place *one, const struct output_place *two)
{
    char folder[PATH_MAX];
    struct stat first, second;
    const char *name = strrchr(one->path, '/'), *other = strrchr(two->path, '/');
    if (strcmp(name != NULL ? name + 1 : one->path, other != NULL ? other + 1 : two->path) != 0)
        return false;
    folder_of(one->path, folder);
    bool there = stat(folder, &first) == 0;
    folder_of(two->path, folder);
    return there && stat(folder, &second) == 0 && is_same(&first, &second);
}

bool output_place_is_one_file(const char *one, const char *two)
{
    struct output_place first, second;
    if (strcmp(one, "-") == 0 || strcmp(two, "-") == 0 || !output_place_find(&first, one) ||
        !output_place_find(&second, two))
        return false;
    if (first.descriptor >= 0 || second.descriptor >= 0 || first.there != second.there)
        return false;
    if (!first.there)
        return is_same_name(&first, &second);
    return S_ISREG(first.status.st_mode) && is_same(&first.status, &second.status);
}

/* A trace in the folder, even one that is too damaged to look like one. */
static bool is_trace_in(const struct output_place *place, const struct stat *folder)
{
    char own[PATH_MAX];
    struct stat status;
    folder_of(place->path, own);
    return stat(own, &status) == 0 && is_same(&status, folder) && traces_is_trace(place->path);
}

bool output_place_is_input(const struct output_place *place, struct output_inputs inputs)
{
    struct stat input;
    if (!place->there || !S_ISREG(place->status.st_mode))
        return false;
    for (int i = 0; i < inputs.count; i++) {
        if (stat(inputs.paths[i], &input) != 0)
            continue;
        if (is_same(&input, &place->status) || (S_ISDIR(input.st_mode) && is_trace_in(place, &input)))
            return true;
    }
    return false;
}

bool output_place_is_trace(const struct output_place *place)
{
    char magic[sizeof PTDS_TRACE_MAGIC - 1];
    if (!place->there || !S_ISREG(place->status.st_mode))
        return false;
    int file = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = file >= 0 && read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
              memcmp(magic, PTDS_TRACE_MAGIC, sizeof magic) == 0;
    if (file >= 0)
        close(file);
    return is;
}
