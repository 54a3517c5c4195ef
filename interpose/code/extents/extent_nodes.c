/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions, each kept once. Called for every instruction whose meaning is known. What is made of a number that is not
 * known must be not known itself: otherwise two different numbers would have the same node.
 */
#include "interpose/code/extents/extent_nodes.h"

#include <string.h>

#include "interpose/code/arena.h"

enum { SLOTS = 2 * NODES_MOST };

int extent_nodes_begin(struct nodes *nodes, struct arena *arena)
{
    nodes->arena = arena;
    nodes->node = arena_get(arena, NODES_MOST * sizeof *nodes->node);
    nodes->hash = arena_get(arena, SLOTS * sizeof *nodes->hash);
    nodes->count = 1;
    return nodes->node && nodes->hash;
}

static uint32_t mix(uint32_t hash, uint64_t word)
{
    uint64_t both = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(both >> 29 ^ both);
}

static uint32_t hash_of(const struct node *node)
{
    uint32_t hash = mix(node->kind, node->bits | (uint32_t)node->is_signed << 8);
    return mix(mix(hash, node->a | (uint64_t)node->b << 32), node->c ^ (uint64_t)node->value);
}

static int is_same(const struct node *one, const struct node *other)
{
    return one->kind == other->kind && one->bits == other->bits && one->is_signed == other->is_signed &&
           one->a == other->a && one->b == other->b && one->c == other->c && one->value == other->value;
}

/* How many of a, b, c are nodes. */
static unsigned operands(const struct node *node)
{
    switch (node->kind) {
    case NODE_NUMBER:
    case NODE_PARAMETER:
    case NODE_SIZE:
    case NODE_PHI: return 0;
    case NODE_RIGHT:
    case NODE_AND:
    case NODE_OR:
    case NODE_EXTEND:
    case NODE_CUT:
    case NODE_NOT: return 1;
    case NODE_CHOOSE: return 3;
    default: return 2;
    }
}

node_id extent_nodes_of(struct nodes *nodes, struct node node)
{
    const node_id operand[3] = {node.a, node.b, node.c};
    if (node.kind == NODE_ANY)
        return 0;
    node.has_phi = node.kind == NODE_PHI;
    for (unsigned i = 0; i < operands(&node); i++) {
        if (!operand[i])
            return 0;
        node.has_phi |= nodes->node[operand[i]].has_phi;
    }
    uint32_t at = hash_of(&node) % SLOTS;
    for (; nodes->hash[at]; at = (at + 1) % SLOTS) {
        if (is_same(&nodes->node[nodes->hash[at]], &node))
            return nodes->hash[at];
    }
    if (nodes->count == NODES_MOST)
        return 0;
    nodes->node[nodes->count] = node;
    return nodes->hash[at] = nodes->count++;
}
