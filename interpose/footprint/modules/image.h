/* SPDX-License-Identifier: Apache-2.0
 *
 * A module's image (a cubin, PTX, or a fat binary with several), kept so that its kernels can be read when they are first
 * launched.
 */
#ifndef PTDS_IMAGE_H
#define PTDS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/code/code.h"

struct image {
    const uint8_t *bytes; /* NULL: there is none */
    size_t size;
    int copied; /* the bytes are the image's own pages; else they lie in a loaded object's file */
};

/* Fills in the image that the driver has just taken from `bytes`: where it lies, if it can't change there; else a copy. */
void image_keep(struct image *image, const void *bytes);

/* The same of a file. Keeps errno. */
void image_keep_file(struct image *image, const char *path);

/* Gives the copy back, if there is one. */
void image_drop(struct image *image);

/* Which kinds of devices there are (90: sm_90); called before the first image is read. count 0, or more than CODE_DEVICES:
 * that is not known, and all of an image is read. jit: the driver is told to compile PTX, whatever else an image has. */
void image_devices(const uint32_t *kinds, unsigned count, int jit);

/* Whether variables may begin as addresses of others, as the program's text says. 0: they don't, on any of the devices. */
int image_has_addresses(const struct image *image);

/* Fills in what the kernel of that name does, on any of the devices. There is always a verdict; where the kernel can't be
 * read it is CODE_UNKNOWN. */
void image_read(const struct image *image, const char *kernel, struct code_facts *facts);

#endif
