/* SPDX-License-Identifier: Apache-2.0
 *
 * Hints to the compiler on how often a function is called.
 */
#ifndef PTDS_ANALYSIS_BASE_HINTS_H
#define PTDS_ANALYSIS_BASE_HINTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A function for what few calls of a trace need: kept out of the functions that every call goes through. */
#define RARE __attribute__((noinline, cold))

/* A function for what some calls need: the other calls do not save registers for it. */
#define ASIDE __attribute__((noinline))

/* A function that nearly every call needs, used in one or two places: inlined though the compiler finds it too long. */
#define INLINE inline __attribute__((always_inline))

#ifdef __cplusplus
}
#endif
#endif
