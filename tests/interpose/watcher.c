/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody's own auditor. Counts bindings of dlsym to libc's and says so at the end; with WATCHER_TAKES, the ones of
 * libaudit_plugin.so get a dlsym of the auditor's, which finds nothing.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t name_space, uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name);

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t name_space, uintptr_t *cookie)
{
    (void)name_space;
    *cookie = strstr(map->l_name, "libaudit_plugin") ? 1 : strstr(map->l_name, "libc.so") ? 2 : 3;
    return LA_FLG_BINDFROM | LA_FLG_BINDTO;
}

static void *nothing(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
    (void)index;
    if (*from != 1 || *to != 2 || (*flags & LA_SYMB_DLSYM) || strcmp(name, "dlsym") != 0)
        return symbol->st_value;
    static const char line[] = "watcher: dlsym is libc's\n";
    if (!(*flags & LA_SYMB_ALTVALUE) && write(STDERR_FILENO, line, sizeof line - 1) < 0)
        abort();
    return getenv("WATCHER_TAKES") ? (uintptr_t)nothing : symbol->st_value;
}
