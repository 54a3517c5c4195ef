/* SPDX-License-Identifier: Apache-2.0
 *
 * The images of device code in a file.
 */
#ifndef PTDS_ANALYSIS_KERNELS_FILE_IMAGES_H
#define PTDS_ANALYSIS_KERNELS_FILE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `each` with each image that images_plain takes, one after the other: of a program, library or object file its
 * containers; of any other file the file itself, or the containers that lie anywhere in it. Returns how many images; 0
 * also for an ELF file of the host without device code; -1: the file is none of these. */
int file_images(const uint8_t *bytes, size_t size, void (*each)(void *data, const uint8_t *image, size_t size), void *data);

#ifdef __cplusplus
}
#endif
#endif
