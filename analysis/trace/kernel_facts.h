/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's own code says of the memory that it touches, as the trace has it. A trace that was written before that
 * has none; then the kernel's name is what there is.
 */
#ifndef PTDS_ANALYSIS_TRACE_KERNEL_FACTS_H
#define PTDS_ANALYSIS_TRACE_KERNEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/trace/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kernel_facts {
    uint32_t kernel, at;
    uint16_t arch;
    uint8_t verdict, why, flags, ptx; /* verdict: of a damaged record UNKNOWN */
    uint32_t words;
    const uint32_t *word; /* as in KERNEL_FACTS */
};

enum { FACTS_TERMS = 8 };
struct facts_term {
    enum ptds_code_kind kind;
    uint16_t low, high;
};
struct facts_base {
    unsigned use, through, beyond, count; /* enum ptds_code_use; of terms */
    struct facts_term term[FACTS_TERMS];
};

/* The base that begins at word *at, which is moved behind it. False: there is no other, or none that is whole. */
bool kernel_facts_next(const struct kernel_facts *facts, uint32_t *at, struct facts_base *base);

/* The facts of a record; `tail` has `bytes` bytes, and stays with the caller. */
struct kernel_facts kernel_facts_of(const struct ptds_rec_KERNEL_FACTS *record, const void *tail, size_t bytes);

/* Whether the bases, and what is reached from them, are all that the kernel touches. */
static inline bool kernel_facts_are_known(const struct kernel_facts *facts)
{
    return facts->verdict != PTDS_CODE_UNKNOWN;
}

/* What the kernel does with the memory that a parameter points at, by the place of the parameter in units of 8 bytes.
 * UNSAID: not known. A base of writes may be written; whether it is, is not known. */
enum facts_touch { FACTS_NOTHING, FACTS_READS, FACTS_MAY_WRITE, FACTS_UNSAID };
enum { FACTS_PLACES = 1 << 13 };
/* Fills in `touch` (FACTS_PLACES) by place. */
void kernel_facts_places(const struct kernel_facts *facts, uint8_t *touch);
/* What the kernel does with the variables of its module. */
enum facts_touch kernel_facts_variables(const struct kernel_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
