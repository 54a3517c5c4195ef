/* SPDX-License-Identifier: Apache-2.0
 *
 * The auditor's door (audit/auditor.c), where LD_AUDIT names one: the auditor asks about references that the loader has
 * bound past the shim, in libraries opened with RTLD_DEEPBIND, and they are bound as they would have been without that
 * flag. Runs inside the loader with its locks held, also before any constructor: the rules are those of dlsym.c. Must not
 * change errno.
 */
#include "interpose/doors/lookup/audit_answer.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "interpose/doors/door.h"
#include "interpose/driver/driver.h"

/* The library's own, not libc's: these are its doors. */
static uintptr_t loader_door(const char *name)
{
    if (strcmp(name, "dlsym") == 0)
        return (uintptr_t)&dlsym;
    if (strcmp(name, "dlvsym") == 0)
        return (uintptr_t)&dlvsym;
    return strcmp(name, "dlopen") == 0 ? (uintptr_t)&dlopen : 0;
}

static uintptr_t driver_door(uintptr_t found)
{
    int twin, id = driver_owns((const void *)found) ? driver_row((const void *)found, &twin) : -1;
    return id < 0 ? 0 : (uintptr_t)door_own(id, twin);
}

/* The auditor asks about references to libc and to what looks like a driver. */
__attribute__((visibility("default"))) uintptr_t ptds_audit_answer(const char *name, uintptr_t found)
{
    int saved = errno, is_loaders = name[0] == 'd' && name[1] == 'l', is_drivers = name[0] == 'c' && name[1] == 'u';
    uintptr_t door = 0;
    if (is_loaders)
        door = loader_door(name);
    else if (is_drivers)
        door = driver_door(found);
    if (door && door_idle())
        door = 0;
    errno = saved;
    return door ? door : found;
}
