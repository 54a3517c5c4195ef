/* SPDX-License-Identifier: Apache-2.0
 *
 * What the compiler is told of how often code runs.
 */
#ifndef PTDS_ANALYSIS_BASE_HINTS_H
#define PTDS_ANALYSIS_BASE_HINTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* What most calls of a trace do not come to, kept out of the functions that all of them go through. */
#define RARE __attribute__((noinline, cold))

/* What only some calls come to: the others need not save registers for it. */
#define ASIDE __attribute__((noinline))

/* What nearly all calls come to, from one or two places, and the compiler takes for too long to repeat there. */
#define INLINE inline __attribute__((always_inline))

#ifdef __cplusplus
}
#endif
#endif
