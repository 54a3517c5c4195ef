/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcuda.so.1 as that of WSL 2: a small library that exports the driver's functions, opens the real driver by a path of
 * its own and goes on to it by jumps. The real one is the simulated driver, as drivers/libcuda.so.1.1 beside this file.
 * cuGetProcAddress is the real one's, and so are its answers. With SMALL_LATE in the environment it opens that in cuInit,
 * and nothing else may be called before.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define GO(name) "jmp *small_" name "(%rip)\n"
#else
#define GO(name) "adrp x16, small_" name "\nldr x16, [x16, :lo12:small_" name "]\nbr x16\n"
#endif

/* small_NAME is a word of this object's own; NAME jumps to what it holds. */
#define NAME(name) \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n.balign 16\n" #name \
            ":\n" GO(#name) ".size " #name ", .-" #name "\n.popsection\n"); \
    extern __attribute__((visibility("hidden"))) void *small_##name; \
    void *small_##name;
#include "tests/support/small_driver/names.inc"
#undef NAME

static const struct {
    const char *name;
    void **place;
} all[] = {
#define NAME(name) {#name, &small_##name},
#include "tests/support/small_driver/names.inc"
};

static int (*real_init)(unsigned);

static void open_real(void)
{
    if (real_init)
        return;
    char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)all, &self) || strlen(self.dli_fname) + sizeof "drivers/libcuda.so.1.1" > sizeof path)
        abort();
    strcpy(path, self.dli_fname);
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "drivers/libcuda.so.1.1");
    void *real = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!real) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i].place = dlsym(real, all[i].name);
    *(void **)&real_init = dlsym(real, "cuInit");
}

__attribute__((constructor)) static void begin(void)
{
    if (!getenv("SMALL_LATE"))
        open_real();
}

__attribute__((visibility("default"))) int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    open_real();
    return real_init(flags);
}
