/* SPDX-License-Identifier: Apache-2.0
 *
 * What a launch's bases are at this launch: the two halves of launches that are not plain.
 */
#ifndef PTDS_BASES_H
#define PTDS_BASES_H

#include "interpose/footprint/follow.h"
#include "interpose/footprint/kernels.h"

/* That a launch may touch memory past what the record's words point to: past its pointers, or there are too few words. */
enum { FOLLOWED = 1, FOLLOWED_UNKEPT = 2 };

/* A launch, and where its parameters lie: each by itself, or one behind the other in a buffer. */
struct launch {
    struct call *call;
    const struct kernel *kernel;
    void *const *params;
    const uint8_t *buffer;
    size_t size;
    struct follows *follows;
    int is_loaded;                /* in a sum no parameter is the pointer, so one that was loaded is */
    const struct memory *by_name; /* the module's variables, as long as they are written by name alone */
};

/* Touches what the kernel's bases, handles and variables are with these parameters, and fills in what is to be followed. 0:
 * the parameters, or what the kernel does with them, are not known. */
int bases_use(struct launch *launch, void *const *extra);

#endif
