/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects, and the memory that they were made of.
 */
#ifndef PTDS_TEXTURES_H
#define PTDS_TEXTURES_H

#include "interpose/state/call.h"

void textures_made(struct call *C, const CUtexObject *object, const CUDA_RESOURCE_DESC *resource, int surface);
void textures_gone(struct call *C, CUtexObject object, int surface);
void textures_left(struct call *C, CUtexObject object, int surface);

/* Adds what the object of this handle stands for: a texture, or a surface, which alone may be written. 0: nobody has seen
 * it. */
int textures_touch(struct touched *touched, uint64_t word, int writes);

void textures_after_fork(void);

#endif
