/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C side of the loader's doors tells its assembly stub (loader_*.S), and where the real functions lie.
 */
#ifndef PTDS_DLSYM_H
#define PTDS_DLSYM_H

#include <stdint.h>

struct answer {
    uintptr_t answered; /* 0: jump to the real function */
    void *value;        /* what the program gets */
};

/* The next definition after this library in load order: another preloaded hook where there is one, else libc's (libdl's
 * before glibc 2.34). NULL: there is none. Needs nothing that is not there before any constructor has run. */
void *dlsym_behind(const char *name);

#endif
