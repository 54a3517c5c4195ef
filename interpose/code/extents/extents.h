/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a launch of a kernel goes from its pointers: does the steps of code.h with the launch's own numbers. Called at
 * launches; takes no lock and no memory.
 */
#ifndef PTDS_CODE_EXTENTS_H
#define PTDS_CODE_EXTENTS_H

#include "interpose/code/code.h"

/* All numbers from low to high; none: low > high. */
struct extent {
    int64_t low, high;
};

/* What a launch says. */
struct extents_launch {
    uint32_t threads[3], blocks[3];
    const uint8_t *(*bytes)(const void *data, unsigned at); /* of the parameters from byte `at` on */
    const void *data;
};

/* Does the steps, at most CODE_EXTENT_STEPS. Of each base for which there is an access, `of[base]` becomes the bytes that
 * its accesses touch, counted from the pointer: from low up to high. The others stay as they are; those of which a step
 * does not know how far it goes become EXTENTS_ANY. A base whose accesses are never done has none: low > high. */
#define EXTENTS_ANY ((struct extent){INT64_MIN, INT64_MAX})
#define EXTENTS_NONE ((struct extent){1, 0})
void extents_of(const struct code_extent_step *step, unsigned count, const struct extents_launch *launch,
                struct extent *of);

#endif
