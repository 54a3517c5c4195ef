/* SPDX-License-Identifier: Apache-2.0
 *
 * A module's image, kept for the facts of its kernels.
 */
#ifndef PTDS_IMAGE_H
#define PTDS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/code/code.h"

struct image {
    const uint8_t *bytes; /* NULL: there is none */
    size_t size;
    int copied; /* pages of ours; else it lies in a loaded object's file */
};

/* The image that the driver has just taken: where it lies, if nobody can change it there; else a copy. */
void image_keep(struct image *image, const void *bytes);

/* The same of a file. */
void image_keep_file(struct image *image, const char *path);

void image_drop(struct image *image);

/* Which kinds of devices there are (90: sm_90), before the first image; none, or more than CODE_DEVICES: nobody knows, and
 * all of an image is read. jit: the driver is told to compile PTX, whatever there is. */
void image_devices(const uint32_t *kinds, unsigned count, int jit);

/* Whether variables may begin as addresses of others, as the program's text says: 0 they don't, on any of these devices. */
int image_has_addresses(const struct image *image);

/* What the kernel of that name does, on any of these devices. Always leaves a verdict. */
void image_read(const struct image *image, const char *kernel, struct code_facts *facts);

#endif
