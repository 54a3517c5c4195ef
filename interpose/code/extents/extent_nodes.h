/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as expressions of what a launch says: each kept once and known by its number, so that two registers with the same
 * node have the same number. A node with a phi means the number that it had when its block was last entered.
 */
#ifndef PTDS_CODE_EXTENT_NODES_H
#define PTDS_CODE_EXTENT_NODES_H

#include <stdint.h>

#include "interpose/code/code.h"

struct arena;

enum node_kind {
    NODE_ANY, /* not known; two of them need not be the same */
    NODE_NUMBER,
    NODE_PARAMETER, /* byte a */
    NODE_SIZE,      /* enum code_size a */
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_REMAINDER,
    NODE_SMALLER,
    NODE_LARGER,
    NODE_RIGHT, /* by `value` */
    NODE_AND,   /* with `value` */
    NODE_OR,
    NODE_EXTEND,
    NODE_CUT,
    NODE_CHOOSE, /* a where predicate c holds, else b */
    NODE_PHI,    /* of slot b where block a begins */
    /* predicates */
    NODE_LESS,
    NODE_UP_TO,
    NODE_EQUAL,
    NODE_BOTH,
    NODE_EITHER,
    NODE_NOT
};

typedef uint32_t node_id; /* 0: NODE_ANY */
struct node {
    uint8_t kind, bits; /* of the operands of a comparison */
    uint8_t is_signed;
    uint8_t has_phi; /* in it */
    node_id a, b, c;
    int64_t value;
};

struct nodes {
    struct arena *arena;
    struct node *node;
    uint32_t count;
    uint32_t *hash;
};
enum { NODES_MOST = 1 << 14 };

/* 0: there is no memory. */
int extent_nodes_begin(struct nodes *nodes, struct arena *arena);

/* The node's number. An operand that is not known, or more nodes than are kept, make it NODE_ANY. */
node_id extent_nodes_of(struct nodes *nodes, struct node node);

static inline const struct node *extent_nodes_at(const struct nodes *nodes, node_id id)
{
    return &nodes->node[id];
}

#endif
