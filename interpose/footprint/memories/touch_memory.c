/* SPDX-License-Identifier: Apache-2.0
 *
 * The rare parts of touch_memory.h. Called by whatever says what a call touches. Must not take a lock.
 */
#include "interpose/footprint/memories/touch_memory.h"

uint32_t touch_memory_kernels_opaque;

void touch_memory_kernels_are_opaque(enum opaque_reason why)
{
    __atomic_store_n(&touch_memory_kernels_opaque, (uint32_t)why, __ATOMIC_RELAXED);
}

void touch_memory_reservation(struct touched *touched, struct memory *memory, int writes)
{
    struct memory *reservation = memory_object_reservation(memory);
    if (reservation)
        touch_memory_alone(touched, reservation, writes);
}
