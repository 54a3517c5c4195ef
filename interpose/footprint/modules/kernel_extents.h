/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a kernel goes from its pointers, in the form in which its launches work it out.
 */
#ifndef PTDS_KERNEL_EXTENTS_H
#define PTDS_KERNEL_EXTENTS_H

#include "interpose/footprint/modules/kernel_table.h"

/* Fills in extent_steps, has_extent and extent_step of a kernel whose pointers are listed: bases of the steps become
 * numbers of pointers, bytes of the parameters the number `a` of a parameter and the byte `b` in it. None of that where the
 * kernel is not plain, or there is no memory. */
void kernel_extents_take(struct kernel *kernel, const struct code_facts *facts);

#endif
