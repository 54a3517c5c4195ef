/* SPDX-License-Identifier: Apache-2.0
 *
 * The conditions, mutexes, semaphores, barriers and ended threads by which threads hand over, and what each carries.
 */
#ifndef PTDS_HANDOVER_OBJECTS_H
#define PTDS_HANDOVER_OBJECTS_H

#include <stdint.h>

#include "interpose/handover/clock.h"

/* How many mutexes have come to belong to a condition so far. */
extern uint32_t objects_converted;

/* 1 if the object is one of the table's, or may have been. */
int objects_known(uintptr_t object);

/* Adds what is known to what the object carries; one that is not in the table is left alone. */
void objects_give(uintptr_t object, const struct clocks *known);

/* The same, and puts it into the table. 1 if it is new there. */
int objects_insert(uintptr_t object, const struct clocks *known);

/* Adds to `known` what the object carries; 1 if that is news. */
int objects_take(uintptr_t object, struct clocks *known);

/* A mutex was inserted because of a condition: threads that locked it before are to look at it again. */
void objects_convert(uintptr_t mutex);

/* Adds to `known` what the mutexes carry that were converted since *seen and for which locked() answers 1. */
int objects_take_converted(uint32_t *seen, int (*locked)(uintptr_t), struct clocks *known);

void handover_objects_after_fork(void);

#endif
