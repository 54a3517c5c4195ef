/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of copies and memsets. api.def's column `before`; they do nothing unless C->footprint is set. Addresses
 * are as the program gave them, lengths in bytes.
 */
#ifndef PTDS_COPIES_H
#define PTDS_COPIES_H

#include "interpose/state/call.h"

/* What a copy's name says of its two sides: host, device, array; COPIES_ANY says nothing. */
enum copies_sides {
    COPIES_HTOD,
    COPIES_DTOH,
    COPIES_DTOD,
    COPIES_ANY,
    COPIES_HTOA,
    COPIES_ATOH,
    COPIES_DTOA,
    COPIES_ATOD,
    COPIES_ATOA
};

void copies_1d(struct call *C, enum copies_sides sides, uint64_t destination, uint64_t source, uint64_t bytes);

/* copy: NULL, then the driver refuses the call. */
void copies_2d(struct call *C, const CUDA_MEMCPY2D *copy);
void copies_3d(struct call *C, const CUDA_MEMCPY3D *copy);
void copies_3d_peer(struct call *C, const CUDA_MEMCPY3D_PEER *copy);

/* `height` rows of `width` elements of `element` bytes each, `pitch` bytes apart, become `value`. The value is kept in
 * C->word[COPIES_WORD_VALUE], which is not recorded: what is written does not matter to what is ordered. */
enum { COPIES_WORD_VALUE = 4 };
void copies_memset(struct call *C, uint64_t destination, uint64_t pitch, unsigned element, uint64_t value, uint64_t width,
                   uint64_t height);

#endif
