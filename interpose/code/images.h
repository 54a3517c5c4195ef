/* SPDX-License-Identifier: Apache-2.0
 *
 * An image's own bytes, entry by entry: what images_plain and code_choose share.
 */
#ifndef PTDS_CODE_IMAGES_H
#define PTDS_CODE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/code/code.h"

/* One image, bare or of a container. */
struct images_entry {
    struct code_image image; /* no bytes before it is unpacked */
    uint8_t bare;            /* not in a container */
    uint8_t specific;        /* for devices of just that number: sm_90a */
    uint8_t family;          /* for devices of that major number alone, PTX too: sm_100f */
};

/* As images_plain does; `wanted` may be NULL. */
struct images_walk {
    int (*wanted)(void *data, const struct images_entry *entry);
    int (*each)(void *data, const struct images_entry *entry);
    void *data;
};
int images_walk(const void *bytes, size_t size, const struct images_walk *walk);

#endif
