/* SPDX-License-Identifier: Apache-2.0
 *
 * The wrappers' addresses: [id][0] the base function's, [id][1] the twin's or NULL.
 */
#ifndef PTDS_WRAPPERS_H
#define PTDS_WRAPPERS_H

#include "interpose/api/api.h"

/* The wrappers, as exported. */
extern void *const wrappers_exported[API_COUNT][2];

/* Their working halves: what a look-up of the driver's own function gives where a linked call would reach another
 * library's. */
extern void *const wrappers_working[API_COUNT][2];

/* The same for a call by the exported name. */
extern void *const wrappers_linked[API_COUNT][2];

/* Where the exported wrappers jump to: their working half, or, once door_open() has seen that they have no work to do, the
 * function behind it. Read and written atomically. */
extern void *wrappers_go[API_COUNT][2];

#endif
