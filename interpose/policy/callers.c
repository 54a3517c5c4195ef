/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_EXCLUDE and PTDS_INCLUDE: which shared objects keep the legacy stream. Called by the doors at resolution and, where
 * a list is set, by every wrapper. A glob is matched against the object's path and its file name; the main program's path
 * is /proc/self/exe's. Must not allocate.
 */
#include "interpose/policy/callers.h"

#include <fnmatch.h>
#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/sites.h"
#include "interpose/env/env.h"

int callers_filter_on(void)
{
    const struct env *env = env_get();
    return env->exclude || env->include;
}

static int glob_matches(const char *list, const char *path)
{
    const char *slash = strrchr(path, '/');
    char glob[512];
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length > 0 && length < sizeof glob) {
            memcpy(glob, list, length);
            glob[length] = '\0';
            if (fnmatch(glob, path, 0) == 0 || (slash && fnmatch(glob, slash + 1, 0) == 0))
                return 1;
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

static int decide(const struct elf_object *object, const void *caller)
{
    const struct env *env = env_get();
    char program[512];
    (void)caller;
    if (!object)
        return env->include != NULL; /* generated code belongs to no object, so it is in no list */
    const char *path = loaded_path(object, program, sizeof program);
    if (env->exclude && glob_matches(env->exclude, path))
        return 1;
    return env->include && !glob_matches(env->include, path);
}

static struct sites sites;

int callers_excluded(const void *caller)
{
    return sites_verdict(&sites, caller, decide);
}
