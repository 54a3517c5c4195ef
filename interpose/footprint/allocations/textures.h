/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects, and the memory that they were made of. surface: 1 surfaces, 0 textures.
 */
#ifndef PTDS_TEXTURES_H
#define PTDS_TEXTURES_H

#include "interpose/state/call.h"

/* api.def's columns, which do nothing unless C->footprint is set: after the call that makes one; before and after the call
 * that destroys it. */
void textures_made(struct call *C, const CUtexObject *object, const CUDA_RESOURCE_DESC *resource, int surface);
void textures_gone(struct call *C, CUtexObject object, int surface);
void textures_left(struct call *C, CUtexObject object, int surface);

/* Adds what the object of this handle stands for: a texture, or a surface, which alone may be written. 0: no object of this
 * handle was seen. */
int textures_touch(struct touched *touched, uint64_t word, int writes);

/* In a forked child: no object is known. */
void textures_after_fork(void);

#endif
