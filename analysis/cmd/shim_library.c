/* SPDX-License-Identifier: Apache-2.0
 *
 * Where libptds.so and its auditor are, and how they get into LD_PRELOAD and LD_AUDIT. For `ptds run` and `ptds doctor`;
 * must not start anything.
 */
#include "analysis/cmd/shim_library.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/text.h"
#include "analysis/probe/runs/environment.h"

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

bool shim_library_find(char *path, char *error)
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

/* Sets a variable to one list after the other, with a colon between. */
static bool set_list(const char *name, const char *first, const char *then, char *error)
{
    char *both = NULL;
    if (asprintf(&both, "%s%s%s", first, then[0] != 0 && first[0] != 0 ? ":" : "", then) < 0) {
        snprintf(error, LIBRARY_ERROR_SIZE, "no memory");
        return false;
    }
    bool set = setenv(name, both, 1) == 0;
    if (!set)
        snprintf(error, LIBRARY_ERROR_SIZE, "%s: %s", name, strerror(errno));
    free(both);
    return set;
}

static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

/* Last: other libraries see the program's own calls first, as without it. */
bool shim_library_preload(const char *path, char *error)
{
    if (strpbrk(path, " :") != NULL) {
        snprintf(error, LIBRARY_ERROR_SIZE, "%s: LD_PRELOAD cannot hold a path with a space or a colon", path);
        return false;
    }
    size_t room = strlen(value_of("LD_PRELOAD")) + strlen(path) + 2;
    char *value = malloc(room);
    bool set = value != NULL && environment_preload(path, value_of("LD_PRELOAD"), value, room) &&
               setenv("LD_PRELOAD", value, 1) == 0;
    if (!set)
        snprintf(error, LIBRARY_ERROR_SIZE, "LD_PRELOAD: %s", strerror(errno));
    free(value);
    return set;
}

/* Before 2.35 the loader stays in the way of every call between objects once there is an auditor. The auditor itself steps
 * aside there; here it is said. */
static bool loader_is_fit(void)
{
    unsigned major = 0, minor = 0;
    return sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) == 2 && (major > 2 || (major == 2 && minor >= 35));
}

bool shim_library_auditor(const char *library, char *auditor, char *error)
{
    static const char name[] = "libptds_audit.so";
    const char *slash = strrchr(library, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - library) : 0;
    if (folder + sizeof name > PATH_MAX) {
        snprintf(error, LIBRARY_ERROR_SIZE, "%s: the path is too long", name);
        return false;
    }
    memcpy(auditor, library, folder);
    strcpy(auditor + folder, name);
    if (access(auditor, R_OK) != 0)
        snprintf(error, LIBRARY_ERROR_SIZE, "%s, which --audit needs: %s", auditor, strerror(errno));
    else if (!loader_is_fit())
        snprintf(error, LIBRARY_ERROR_SIZE, "--audit needs glibc 2.35 or later, and this is %s", gnu_get_libc_version());
    else
        return true;
    return false;
}

/* Last: what other auditors see is what they would see without it. */
bool shim_library_audit(const char *library, char *error)
{
    char auditor[PATH_MAX];
    return shim_library_auditor(library, auditor, error) && set_list("LD_AUDIT", value_of("LD_AUDIT"), auditor, error);
}
