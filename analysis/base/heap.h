/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for all that a report is made of (what only shows one sees to itself), and whether there always was some: most of
 * what has none goes on and knows less, and the report has to say that it may be of less. No function here exits, aborts or
 * prints.
 */
#ifndef PTDS_ANALYSIS_BASE_HEAP_H
#define PTDS_ANALYSIS_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As calloc, malloc and realloc; free gives it back. NULL: there is none, and that is counted. */
void *heap_zeroed(size_t count, size_t size);
void *heap_bytes(size_t size);
void *heap_resized(void *block, size_t size);

/* How often there was none, in all threads so far. */
uint64_t heap_refusals(void);

#ifdef __cplusplus
}
#endif
#endif
