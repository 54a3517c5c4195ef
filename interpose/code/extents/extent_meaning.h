/* SPDX-License-Identifier: Apache-2.0
 *
 * What a block's instructions make of the numbers that registers have.
 */
#ifndef PTDS_CODE_EXTENT_MEANING_H
#define PTDS_CODE_EXTENT_MEANING_H

#include "interpose/code/extents/extent_flow.h"

/* From `now` and `holds` where the block begins to those where it ends; and its accesses. */
void extent_meaning_block(struct extent_flow *flow, const struct block *block);

/* The comparisons that hold where the predicate does; negated: where it does not. A bit each. */
uint64_t extent_meaning_holds(struct extent_flow *flow, uint16_t predicate, int negated);

static inline int extent_meaning_sets_register(const struct meaning *meaning)
{
    return meaning->kind >= MEANS_MOVE && meaning->kind <= MEANS_CHOOSE;
}

#endif
