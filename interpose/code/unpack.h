/* SPDX-License-Identifier: Apache-2.0
 *
 * The two ways in which images of device code are compressed: an LZ4 block without a frame, and Zstandard frames.
 */
#ifndef PTDS_UNPACK_H
#define PTDS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* Unpacks `packed_size` bytes into `to`. 1: the input was whole and gave exactly `size` bytes. 0: it was not, `size` is
 * wrong, or memory lacks; then the bytes at `to` mean nothing. The input may be anything. */
int unpack_lz4(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size);
int unpack_zstd(uint8_t *to, size_t size, const uint8_t *packed, size_t packed_size);

#endif
