/* SPDX-License-Identifier: Apache-2.0
 *
 * What variables a module's image has, and whether its kernels allocate: PTX, a cubin, or a container of several of them.
 */
#ifndef PTDS_IMAGE_H
#define PTDS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

enum image_has {
    IMAGE_GLOBALS = 1,   /* variables that kernels may write */
    IMAGE_CONSTANTS = 2, /* variables that only the host writes */
    IMAGE_UNREAD = 4,    /* nothing in it could be read */
    IMAGE_HEAP = 8,      /* its kernels may allocate memory themselves */
    IMAGE_POINTERS = 16  /* variables that kernels may write have room for a pointer */
};

/* Which kinds of devices there are (75: sm_75): of a container that has machine code for each, only that is read. None, or
 * more than so many: all is read. Before the first image. */
enum { IMAGE_DEVICES = 16 };
void image_devices(const uint32_t *kinds, unsigned count);

/* Flags of enum image_has. size: SIZE_MAX where only the image itself says how large it is; the driver has taken it then.
 */
unsigned image_variables(const void *image, size_t size);

/* The same of a file. */
unsigned image_file_variables(const char *path);

/* The same of PTX alone. */
unsigned image_of_ptx(const char *image, size_t size);

/* Whether the variable of that name is the compiler's own, by its name alone; and whether it has the name of a constant
 * text
 * (__func__ and the like), which the compiler gives nothing else that is a text. */
int image_is_the_compilers(const char *name, size_t size);
int image_is_unnamed(const char *name, size_t size);

#endif
