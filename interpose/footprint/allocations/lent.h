/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a graphics interface (OpenGL, EGL, VDPAU, Vulkan) lends. api.def's columns; they do nothing unless
 * C->footprint is set.
 */
#ifndef PTDS_LENT_H
#define PTDS_LENT_H

#include "interpose/state/call.h"

/* After the call: memory was lent, perhaps once more; then it is what it was. pointer: where the driver put the address or
 * the array's handle, of pointer_size bytes. bytes: 0 not told, the driver is asked. */
void lent_mapped(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes);

/* After the call: the planes of an EGL frame were lent. */
void lent_frame(struct call *C, const void *frame);

/* A buffer of OpenGL's is memory as long as it is mapped. After the call that maps it; before and after the call that
 * unmaps it. */
void lent_gl_mapped(struct call *C, unsigned buffer, const void *pointer, size_t pointer_size, uint64_t bytes);
void lent_gl_unmapping(struct call *C, unsigned buffer);
void lent_gl_unmapped(struct call *C, unsigned buffer);

/* In a forked child: no buffer is mapped. */
void lent_after_fork(void);

#endif
