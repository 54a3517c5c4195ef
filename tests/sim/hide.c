/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes an exported function out of this library's own symbol table at run time, so that dlsym and the dynamic linker do
 * not find it: a driver that lacks it. Called once at load for what SIM_HIDE and SIM_DRIVER_VERSION name. A program whose
 * references were bound before that (the constructor runs after its own relocation) keeps them; the entry answers 500.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/sim.h"

void hide_symbol(void *address)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || info.dli_saddr != address)
        return; /* hidden already */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)symbol & ~(page - 1);
    size_t length = (uintptr_t)(symbol + 1) - first;
    if (mprotect((void *)first, length, PROT_READ | PROT_WRITE) != 0)
        abort();
    ((ElfW(Sym) *)(uintptr_t)symbol)->st_shndx = SHN_UNDEF;
    ((ElfW(Sym) *)(uintptr_t)symbol)->st_value = 0;
    mprotect((void *)first, length, PROT_READ);
}
