/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of a kernel (interpose/code/code.h), as its launches use them.
 */
#ifndef PTDS_FACTS_H
#define PTDS_FACTS_H

#include <stdint.h>

#include "interpose/code/code.h"
#include "interpose/state/touched.h"

/* A word among the parameters: for its low and its high half the parameter's number, and the byte in it. */
struct facts_word {
    uint16_t low, low_at, high, high_at;
};

/* As in code.h. */
struct facts_term {
    uint8_t kind;      /* enum code_kind */
    uint8_t constant;  /* of a variable */
    uint16_t from, to; /* bytes among all parameters: of a word where it begins, of a range both ends */
    struct facts_word word;
};

struct facts_base {
    uint8_t use, through, beyond, sum_through, sum_beyond, terms;
    uint16_t first; /* of its terms */
    uint8_t mixes;  /* as in code.h: behind its terms, of each pair of words one, `to` is 0 where it is one word alone */
};

struct facts_handle {
    uint16_t offset;
    uint8_t use;
    struct facts_word word;
};

/* What is kept. */
struct facts {
    uint8_t opaque;    /* enum opaque_reason; not 0: nothing else is told */
    uint8_t maps;      /* there are tensor maps among the parameters */
    uint8_t variables; /* enum code_use of the module's variables altogether */
    uint16_t bases, terms, handles;
    uint32_t room; /* bytes behind `base` */
    struct facts_base *base;
    struct facts_term *term;
    struct facts_handle *handle;
};

/* Keeps what is to be kept of them, for a kernel whose parameters the driver lays out so (offset << 16 | size each). Where
 * they do not lie there, the kernel is opaque. */
void facts_take(struct facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout);

/* The same kernel for another kind of device: both at once, whatever one of them may do. */
void facts_merge(struct code_facts *all, const struct code_facts *one);

static inline int facts_is_contiguous(struct facts_word word)
{
    return word.low == word.high && word.high_at == word.low_at + 4;
}

#endif
