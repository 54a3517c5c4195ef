/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of its memories a launch touches, where several lanes use parts of one.
 */
#ifndef PTDS_LAUNCH_PARTS_H
#define PTDS_LAUNCH_PARTS_H

#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/state/call.h"

/* After plain_launch_keep of the call, whose words say the launch's shape: what it touches of memories of which parts are
 * used becomes the bytes that the kernel's code says, and the record's words say so, too. */
void launch_parts_limit_slow(struct call *C, const struct kernel *kernel, void *const *params);
static inline void launch_parts_limit(struct call *C, const struct kernel *kernel, void *const *params)
{
    if (__builtin_expect(kernel->extent_steps != 0, 0))
        launch_parts_limit_slow(C, kernel, params);
}

#endif
