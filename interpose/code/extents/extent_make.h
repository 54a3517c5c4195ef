/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes a kernel's accesses touch, as steps that each launch does (code_facts.extent_step).
 */
#ifndef PTDS_CODE_EXTENT_MAKE_H
#define PTDS_CODE_EXTENT_MAKE_H

#include "interpose/code/solve.h"

/* Adds the steps to the facts, which are complete otherwise, and has_extent to each base whose accesses are all told by
 * them. */
void extent_make(struct solver *solver);

#endif
