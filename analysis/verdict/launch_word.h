/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch's argument word taken apart: bits 0 to 50 are the address, bits 51 to 63 the word's place in the kernel's
 * parameter space, in units of 8 bytes. Traces that do not tell the place have 0 there.
 */
#ifndef PTDS_ANALYSIS_VERDICT_LAUNCH_WORD_H
#define PTDS_ANALYSIS_VERDICT_LAUNCH_WORD_H

#include <stdint.h>

enum { LAUNCH_WORDS_AT = 4, LAUNCH_ADDRESS_BITS = 51 };

static inline uint64_t launch_address(uint64_t word)
{
    return word & (((uint64_t)1 << LAUNCH_ADDRESS_BITS) - 1);
}

/* In bytes. */
static inline uint32_t launch_offset(uint64_t word)
{
    return (uint32_t)(word >> LAUNCH_ADDRESS_BITS) * 8;
}

#endif
