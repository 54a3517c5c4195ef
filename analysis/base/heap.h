/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for everything that a report is made of (views see to their own), and a count of the allocations that failed.
 * Most code that gets no memory goes on and knows less, so the report has to say that it may be of less than the trace.
 * No function here exits, aborts or prints.
 */
#ifndef PTDS_ANALYSIS_BASE_HEAP_H
#define PTDS_ANALYSIS_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As calloc, malloc and realloc; free() releases the memory, the caller owns it. NULL: there is no memory, and the
 * failure is counted. */
void *heap_zeroed(size_t count, size_t size);
void *heap_bytes(size_t size);
void *heap_resized(void *block, size_t size);

/* How many allocations have failed so far, in all threads. */
uint64_t heap_refusals(void);

#ifdef __cplusplus
}
#endif
#endif
