/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way for launches that touch nothing but memory of the device, by pointers among their parameters. Where a
 * function here answers 0, the launch has to be looked at in full (launches.h); what `touched` says is of no use then.
 */
#ifndef PTDS_PLAIN_LAUNCH_H
#define PTDS_PLAIN_LAUNCH_H

#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/modules/kernel_table.h"

/* The launch has neither pointers nor variables: there is nothing to look at. */
static inline int plain_launch_touches_nothing(const struct kernel *kernel, void *const *params)
{
    return kernel->plain && !kernel->listed && !kernel->variables && (params || !kernel->params) &&
           !kernel->module->textures && !__atomic_load_n(&touch_memory_kernels_opaque, __ATOMIC_RELAXED);
}

/* Fills in what the launch touches. 1: that is all. */
int plain_launch_touch(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched);

/* The same, and for a record the words behind its SHAPE_WORDS, no more than CALL_WORDS with those. Their number with those.
 */
unsigned plain_launch_list(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched,
                           uint64_t *kept);

/* The same into the call, with the words where it is recorded. 0: the call is as it was. */
int plain_launch_keep(struct call *C, const struct kernel *kernel, void *const *params);

#endif
