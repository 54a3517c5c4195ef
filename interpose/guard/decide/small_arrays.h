/* SPDX-License-Identifier: Apache-2.0
 *
 * Small arrays of one kind of element that grow by four and whose memory is used again. One caller at a time, as in
 * order.h.
 */
#ifndef PTDS_SMALL_ARRAYS_H
#define PTDS_SMALL_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

enum {
    ARRAYS_CLASSES = 4,
    ARRAYS_SMALLEST = 4,
    ARRAYS_GROWTH = 4
}; /* 4, 16, 64, 256: one element for each lane always fits */

struct arrays {
    size_t element; /* bytes; at least a pointer's */
    void *unused[ARRAYS_CLASSES];
};

/* A larger array with the same `count` elements; *capacity 0: there is none yet. The old one is given back. NULL, and
 * nothing changed, without memory. */
void *small_arrays_grow(struct arrays *arrays, void *at, uint16_t count, uint16_t *capacity);

void small_arrays_give_back(struct arrays *arrays, void *at, uint16_t capacity);

#endif
