/* SPDX-License-Identifier: Apache-2.0
 *
 * The memories of arrays, which have handles (CUarray, CUmipmappedArray) and no addresses. Handles own no memory: what
 * makes an array gives its memory's hold to the handle, and whatever takes the handle out drops it.
 */
#ifndef PTDS_ARRAY_HANDLES_H
#define PTDS_ARRAY_HANDLES_H

#include "interpose/state/call.h"

/* The handle stands for this memory from now on. */
void array_handles_set(uint64_t handle, struct memory *memory);

/* Its memory; NULL: it was not seen being made. */
struct memory *array_handles_get(uint64_t handle);

/* The handle stands for nothing any more. The memory that it stood for; NULL none. */
struct memory *array_handles_remove(uint64_t handle);

/* Adds the array, whole. One that was not seen being made makes the call opaque. */
void array_handles_touch(struct touched *touched, uint64_t handle, int writes);

/* api.def's column `after`: *part is the handle of an array that is part of another: a mipmap's level, or a plane. */
void array_handles_part_of(struct call *C, const void *part, const void *whole);

/* In a forked child: no handle stands for anything. */
void array_handles_after_fork(void);

#endif
