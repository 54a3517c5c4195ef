/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that looks functions up, as they are opened with RTLD_DEEPBIND.
 */
#include <dlfcn.h>

__attribute__((visibility("default"))) void *bypass_lib_find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}
