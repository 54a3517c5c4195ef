/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the steps of a kernel's extents. Called once a kernel, by kernel_table.c. A pointer must have an extent only if all
 * accesses that begin with it are among the steps.
 */
#include "interpose/footprint/modules/kernel_extents.h"

#include "interpose/base/pages.h"

/* The pointer among those that are listed; KERNEL_POINTERS: it is not. */
static unsigned pointer_of(const struct kernel *kernel, const struct code_base *base)
{
    unsigned i = 0;
    while (i < kernel->listed && kernel->pointer[i].offset != base->term[0].low)
        i++;
    return i < kernel->listed && base->count == 1 && base->term[0].kind == CODE_PARAMETER ? i : KERNEL_POINTERS;
}

/* 0: the bytes do not lie in one parameter. */
static int find_parameter(const struct kernel *kernel, struct code_extent_step *step)
{
    uint32_t from = step->a, bytes = step->bits / 8u;
    for (uint32_t i = 0; i < kernel->params; i++) {
        uint32_t begin = kernel_table_offset(kernel->layout[i]), size = kernel_table_size(kernel->layout[i]);
        if (from < begin || size < bytes || from - begin > size - bytes)
            continue;
        step->a = (uint16_t)i;
        step->b = (uint16_t)(from - begin);
        return 1;
    }
    return 0;
}

static int take_step(struct kernel *kernel, const struct code_facts *facts, const struct code_extent_step *from)
{
    struct code_extent_step *step = &kernel->extent_step[kernel->extent_steps++];
    *step = *from;
    if (step->kind == CODE_EXTENT_PARAMETER)
        return find_parameter(kernel, step);
    if (step->kind != CODE_EXTENT_ACCESS)
        return 1;
    if (step->b >= facts->bases)
        return 0;
    unsigned pointer = pointer_of(kernel, &facts->base[step->b]);
    if (pointer == KERNEL_POINTERS)
        return 0;
    kernel->has_extent[pointer] = facts->base[step->b].has_extent;
    step->b = (uint16_t)pointer;
    return 1;
}

void kernel_extents_take(struct kernel *kernel, const struct code_facts *facts)
{
    int taken = kernel->plain && facts->extent_steps && facts->extent_steps <= CODE_EXTENT_STEPS;
    kernel->extent_steps = 0;
    if (taken && !kernel->extent_step)
        kernel->extent_step = pages_keep(CODE_EXTENT_STEPS * sizeof *kernel->extent_step);
    for (unsigned i = 0; i < KERNEL_POINTERS; i++)
        kernel->has_extent[i] = 0;
    taken = taken && kernel->extent_step;
    for (unsigned i = 0; taken && i < facts->extent_steps; i++)
        taken = take_step(kernel, facts, &facts->extent_step[i]);
    if (!taken)
        kernel->extent_steps = 0;
}
