/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of a kernel (interpose/code/code.h), in the form in which its launches use them.
 */
#ifndef PTDS_LAUNCH_FACTS_H
#define PTDS_LAUNCH_FACTS_H

#include <stdint.h>

#include "interpose/code/code.h"
#include "interpose/state/touched.h"

/* A word of eight bytes among the parameters, whose two halves may lie apart: for each half the parameter's number, and the
 * byte in it. */
struct launch_facts_word {
    uint16_t low, low_at, high, high_at;
};

/* A term of a base, as in code.h. */
struct launch_facts_term {
    uint8_t kind;      /* enum code_kind */
    uint8_t constant;  /* of a variable: it is a constant one */
    uint16_t from, to; /* bytes among all parameters: of a word where it begins, of a range both ends */
    struct launch_facts_word word;
};

/* A base of addresses, as in code.h: the sum of its terms, which follow each other. */
struct launch_facts_base {
    uint8_t use, through, beyond, sum_through, sum_beyond, terms;
    uint16_t first; /* the number of its first term */
    uint8_t
        mixes; /* as in code.h: behind its terms there is one for each pair of mixed words; `to` is 0 of one word alone */
};

struct launch_facts_handle {
    uint16_t offset;
    uint8_t use; /* enum code_use */
    struct launch_facts_word word;
};

struct launch_facts {
    uint8_t opaque;    /* enum opaque_reason; not 0: nothing else is told */
    uint8_t maps;      /* there are tensor maps among the parameters */
    uint8_t variables; /* enum code_use of the module's variables altogether */
    uint16_t bases, terms, handles;
    uint32_t room; /* bytes behind `base`; base, term and handle share them, and they serve again */
    struct launch_facts_base *base;
    struct launch_facts_term *term;
    struct launch_facts_handle *handle;
};

/* Fills in the facts, for a kernel whose `params` parameters the driver lays out so (offset << 16 | size each; params
 * UINT32_MAX: not known). Where words do not lie in parameters, or there is no memory, the kernel is opaque. */
void launch_facts_take(struct launch_facts *facts, const struct code_facts *from, uint32_t params, const uint32_t *layout);

/* Whether the word's two halves lie side by side in one parameter. */
static inline int launch_facts_is_contiguous(struct launch_facts_word word)
{
    return word.low == word.high && word.high_at == word.low_at + 4;
}

#endif
