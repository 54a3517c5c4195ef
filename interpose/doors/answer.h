/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C side of a door tells its assembly stub.
 */
#ifndef PTDS_ANSWER_H
#define PTDS_ANSWER_H

#include <stdint.h>

struct answer {
    uintptr_t answered; /* 0: jump to the real function */
    void *value;
};

/* The next definition after this library in load order: another preloaded hook where there is one, else libc's (libdl's
 * before glibc 2.34). Needs nothing that is not there before any constructor has run. */
void *door_behind(const char *name);

#endif
