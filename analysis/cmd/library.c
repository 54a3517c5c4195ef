/* SPDX-License-Identifier: Apache-2.0
 *
 * Where libptds.so is, and how it gets into LD_PRELOAD. For `ptds run` and `ptds doctor`; must not start anything.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cmd/cmd.h"
#include "analysis/base/text.h"

/* As installed (bin and lib side by side), all in one folder, and as Bazel builds it (analysis/ptds, interpose/libptds.so).
 */
static const char *const places[] = {"../lib/libptds.so", "libptds.so", "../interpose/libptds.so"};

/* The folder of this command, without the last slash. */
static bool own_folder(char *folder)
{
    ssize_t size = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (size <= 0)
        return false;
    folder[size] = 0;
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return false;
    *slash = 0;
    return true;
}

static bool named_library(const char *named, char *path, char *error)
{
    if (realpath(named, path) != NULL && access(path, R_OK) == 0)
        return true;
    snprintf(error, LIBRARY_ERROR_SIZE, "PTDS_LIBRARY=%s: %s", named, strerror(errno));
    return false;
}

bool library_find(char *path, char *error)
{
    const char *named = getenv("PTDS_LIBRARY");
    char folder[PATH_MAX], place[PATH_MAX + 32];
    if (named != NULL && named[0] != 0)
        return named_library(named, path, error);
    if (!own_folder(folder)) {
        snprintf(error, LIBRARY_ERROR_SIZE, "libptds.so: this command's own folder is unknown; set PTDS_LIBRARY");
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(place, sizeof place, "%s/%s", folder, places[i]);
        if (realpath(place, path) != NULL && access(path, R_OK) == 0)
            return true;
    }
    snprintf(error, LIBRARY_ERROR_SIZE, "libptds.so is not where it is looked for: %s and %s, %s, %s from %.1000s",
             "$PTDS_LIBRARY", places[0], places[1], places[2], folder);
    return false;
}

bool library_preload(const char *path, char *error)
{
    const char *there = getenv("LD_PRELOAD");
    if (strpbrk(path, " :") != NULL) {
        snprintf(error, LIBRARY_ERROR_SIZE, "%s: LD_PRELOAD cannot hold a path with a space or a colon", path);
        return false;
    }
    if (there == NULL || there[0] == 0)
        return setenv("LD_PRELOAD", path, 1) == 0;
    size_t size = strlen(path) + strlen(there) + 2;
    char *both = malloc(size);
    if (both == NULL) {
        snprintf(error, LIBRARY_ERROR_SIZE, "no memory");
        return false;
    }
    snprintf(both, size, "%s:%s", path, there);
    bool set = setenv("LD_PRELOAD", both, 1) == 0;
    free(both);
    return set;
}
