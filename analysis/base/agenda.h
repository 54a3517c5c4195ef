/* SPDX-License-Identifier: Apache-2.0
 *
 * An agenda: an array of items that is a heap, the earliest item first. An item is a struct whose first member is
 * `uint64_t ticks`. The model keeps in one what calls in flight will have made known when they return.
 */
#ifndef PTDS_ANALYSIS_BASE_AGENDA_H
#define PTDS_ANALYSIS_BASE_AGENDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room of an agenda. More calls are never in flight in a real run; a damaged trace may claim them. */
enum { AGENDA_MOST = 4096, AGENDA_ITEM_MOST = 256 /* bytes */ };

/* Moves the last of `count` items of `size` bytes each, which the caller appended, to its place in the heap. */
void agenda_add(void *items, size_t count, size_t size);

/* Moves the earliest of `count` items to the end of the array, and orders the others without it. */
void agenda_take(void *items, size_t count, size_t size);

#ifdef __cplusplus
}
#endif
#endif
