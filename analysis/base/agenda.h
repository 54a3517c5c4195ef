/* SPDX-License-Identifier: Apache-2.0
 *
 * What is to happen at a time: an array that is a heap, the earliest first. Its items are structs whose first member is
 * `uint64_t ticks`. For what calls in flight will have made known when they return.
 */
#ifndef PTDS_ANALYSIS_BASE_AGENDA_H
#define PTDS_ANALYSIS_BASE_AGENDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More calls than this are never in flight; a damaged trace may say so. */
enum { AGENDA_MOST = 4096, AGENDA_ITEM_MOST = 256 /* bytes */ };

/* The last of `count` items finds its place. */
void agenda_add(void *items, size_t count, size_t size);

/* The first of `count` items becomes the last, and the others are in order without it. */
void agenda_take(void *items, size_t count, size_t size);

#ifdef __cplusplus
}
#endif
#endif
