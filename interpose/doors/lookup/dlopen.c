/* SPDX-License-Identifier: Apache-2.0
 *
 * The dlopen door. Called by the assembly stub for every dlopen of the process, also from constructors and before this
 * library's own. It goes on by a jump, since glibc looks up file names by who asks, except for a path with RTLD_DEEPBIND,
 * which means the same for every caller. That call is made with the very same arguments, since programs rely on the flag;
 * what it has loaded is then made to find the shim. Must not change a result, errno or dlerror.
 */
#include <dlfcn.h>
#include <string.h>

#include "interpose/doors/door.h"
#include "interpose/doors/lookup/deep.h"
#include "interpose/doors/lookup/dlsym.h"
#include "interpose/record/bypass.h"

typedef void *dlopen_function(const char *, int);

__attribute__((visibility("hidden"))) dlopen_function *ptds_real_dlopen;

struct answer ptds_dlopen_decide(const char *file, int mode);

static int find_real(void)
{
    if (__builtin_expect(__atomic_load_n(&ptds_real_dlopen, __ATOMIC_ACQUIRE) != NULL, 1))
        return 1;
    void *found = dlsym_behind("dlopen");
    __atomic_store_n(&ptds_real_dlopen, (dlopen_function *)found, __ATOMIC_RELEASE);
    return found != NULL;
}

/* No search path of the caller's has a say in it. */
static int is_plain_path(const char *file)
{
    return strchr(file, '/') && !strchr(file, '$');
}

struct answer ptds_dlopen_decide(const char *file, int mode)
{
    if (!find_real())
        return (struct answer){1, NULL};
    if (!(mode & RTLD_DEEPBIND) || !file || door_idle())
        return (struct answer){0, NULL};
    if (!is_plain_path(file)) {
        bypass_opened_deep(file);
        return (struct answer){0, NULL};
    }
    struct deep_before before;
    deep_begin(&before);
    void *handle = ptds_real_dlopen(file, mode);
    deep_end(handle, &before);
    return (struct answer){1, handle};
}
