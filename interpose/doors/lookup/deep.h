/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries that RTLD_DEEPBIND binds past the shim.
 */
#ifndef PTDS_DEEP_H
#define PTDS_DEEP_H

#include <stdint.h>

/* What there is before such a library is opened. */
struct deep_before {
    uint32_t objects;
    uint32_t opening; /* other such calls that have not come to their end */
    unsigned long long unloads;
};

/* Around the real dlopen, whose handle may be NULL. The end makes what the call has brought in find the shim, and keeps
 * errno and dlerror. */
void deep_begin(struct deep_before *before);
void deep_end(const void *handle, const struct deep_before *before);

#endif
