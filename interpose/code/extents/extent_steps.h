/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes as steps of intervals.
 */
#ifndef PTDS_CODE_EXTENT_STEPS_H
#define PTDS_CODE_EXTENT_STEPS_H

#include "interpose/code/extents/extent_flow.h"

enum { EXTENT_NONE = 0xffff };

/* The steps so far, and of which node each is, under which comparisons. */
struct extent_steps {
    struct extent_flow *flow;
    struct code_extent_step step[CODE_EXTENT_STEPS];
    node_id of[CODE_EXTENT_STEPS];
    uint64_t holds[CODE_EXTENT_STEPS];
    uint16_t count;
    uint32_t cost; /* of one evaluation, in steps */
    uint8_t loops; /* inside each other, where it is at the moment */
    uint8_t depth; /* of nodes inside each other */
    uint32_t tries;
    uint32_t *visited; /* of each node, the last visit */
    uint32_t visit;
    uint64_t *about; /* of each node: comparisons with it, or with what it is made of */
    uint8_t *has_about;
};

/* For the accesses of that kernel. 0: there is no memory. */
int extent_steps_begin(struct extent_steps *steps, struct extent_flow *flow);

/* The step that makes the interval of a node, where these comparisons hold. EXTENT_NONE: nothing is known of it, or there
 * is no room. */
uint16_t extent_steps_of(struct extent_steps *steps, node_id id, uint64_t holds);

/* One more step. EXTENT_NONE: an operand is none, or there is no room. */
uint16_t extent_steps_add(struct extent_steps *steps, struct code_extent_step step);

#endif
