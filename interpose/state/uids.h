/* SPDX-License-Identifier: Apache-2.0
 *
 * Uids: numbers from 1 that a process never uses again.
 */
#ifndef PTDS_UIDS_H
#define PTDS_UIDS_H

#include <stdint.h>

/* Each kind counts on its own. */
enum object_kind { OBJECT_CONTEXT, OBJECT_STREAM, OBJECT_EVENT, OBJECT_KERNEL, OBJECT_GRAPH, OBJECT_MEMORY, OBJECT_KINDS };

/* A new uid. Any thread. */
uint32_t uids_next(enum object_kind kind);

/* The newest uid of the kind; 0: there is none yet. */
uint32_t uids_last(enum object_kind kind);

#endif
