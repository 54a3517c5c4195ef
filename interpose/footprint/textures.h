/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects, and the memory that they were made of.
 */
#ifndef PTDS_TEXTURES_H
#define PTDS_TEXTURES_H

#include "interpose/footprint/span.h"
#include "interpose/state/call.h"

void textures_made(struct call *C, const CUtexObject *object, const CUDA_RESOURCE_DESC *resource, int surface);
void textures_gone(struct call *C, CUtexObject object, int surface);
void textures_left(struct call *C, CUtexObject object, int surface);

/* Bounds of all handles that there ever were: they are small numbers, or look like addresses. */
extern uint64_t textures_low, textures_high;
static inline struct span textures_span(void)
{
    return span_of(&textures_low, &textures_high);
}

/* The memory of the texture, or of the surface, with this handle; there may be both. NULL: not known. 0: none, or of memory
 * that is gone. */
int textures_find(uint64_t word, int surface, struct memory **memory);

/* Adds what the objects of this handle stand for. */
void textures_touch(struct touched *touched, uint64_t word);

void textures_after_fork(void);

#endif
