/* SPDX-License-Identifier: Apache-2.0
 *
 * What most launches touch: memory of the device, by pointers that lie among the kernel's parameters, and nothing else.
 * Called for every launch that is not recorded, before anything else looks at it. Must never say less of a launch than
 * launches.c: at anything that is not as simple as that it gives up.
 */
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/signature.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/textures.h"

#include <string.h>

/* Of the host, mapped in parts, or with pointers in it. */
static inline int is_special(const struct memory *memory, unsigned flags)
{
    return memory->host || flags & (SIGNATURE_POINTS | SIGNATURE_ENDS) ||
           (flags & SIGNATURE_UNKNOWN && ((const struct memory_object *)memory)->table);
}

static inline int touch_words(struct thread *thread, const uint8_t *bytes, uint32_t layout, unsigned flags,
                              struct touched *touched)
{
    size_t place = (layout >> 16) / 8;
    for (size_t at = 0, size = layout & 0xffffu; at + 8 <= size; at += 8, place++) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (textures_may_be(word))
            return 0;
        if (!memories_in_span(word))
            continue;
        struct memory *memory = memories_memory(thread, word, place);
        if (!memory || is_special(memory, flags))
            return 0;
        touch_alone(touched, memory, !(flags & SIGNATURE_READS));
    }
    return 1;
}

/* Its module's variables are as any other memory. */
static inline int touch_variables(const struct module *module, struct touched *touched)
{
    if (__builtin_expect(!module || module->textures, 0))
        return 0;
    if (!module->memory)
        return 1;
    touch_alone(touched, module->memory, (int)module->writes);
    return !module->memory->host;
}

int kernels_touch_plainly(struct thread *thread, const struct kernel *kernel, void *const *params, struct touched *touched)
{
    if (kernel->params == UINT32_MAX || (kernel->params && !params) ||
        __atomic_load_n(&kernels_read_pageable, __ATOMIC_RELAXED) ||
        __atomic_load_n(&kernels_launch_graphs, __ATOMIC_RELAXED))
        return 0;
    for (uint32_t i = 0; i < kernel->params; i++) {
        uint32_t layout = kernel->layout[i];
        if ((layout & 0xffffu) >= 8 && params[i] && !touch_words(thread, params[i], layout, kernel->flags[i], touched))
            return 0;
    }
    return touch_variables(kernel->module, touched) && !touched->opaque && !tables_expand(touched);
}
