/* SPDX-License-Identifier: Apache-2.0
 *
 * What the bases of a kernel's addresses are at one launch, for launches that are not plain.
 */
#ifndef PTDS_BASES_H
#define PTDS_BASES_H

#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/footprint/pointers/follow.h"

/* Bits of C->followed. The launch may touch memory besides what the record's words point to: FOLLOWED past its pointers,
 * FOLLOWED_UNKEPT since there are too few words. */
enum { FOLLOWED = 1, FOLLOWED_UNKEPT = 2 };

/* A launch, and where its parameters lie: each by itself (params), or one behind the other in a buffer. */
struct launch {
    struct call *call;
    const struct kernel *kernel; /* NULL: not known */
    void *const *params;         /* as in cuLaunchKernel; NULL: `buffer` */
    const uint8_t *buffer;
    size_t size; /* of `buffer`, in bytes */
    struct follow_list *follows;
    int is_loaded;                /* in a sum no parameter is the pointer, so a word that was loaded is */
    const struct memory *by_name; /* the module's variables, as long as they are written by name alone */
};

/* Adds to the call what the kernel's bases, handles and variables are with these parameters, and to launch->follows the
 * memories whose pointers it follows. extra: as in cuLaunchKernel; NULL none. 0: the parameters, or what the kernel does
 * with them, are not known, and the call is opaque. */
int bases_use(struct launch *launch, void *const *extra);

#endif
