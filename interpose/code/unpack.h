/* SPDX-License-Identifier: Apache-2.0
 *
 * The two ways in which images of device code are compressed.
 */
#ifndef PTDS_UNPACK_H
#define PTDS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* 1 if `packed` was whole and gave `size` bytes or, of LZ4, at most one less than a word's: callers know the size. */
int unpack_lz4(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size);
int unpack_zstd(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size);

#endif
