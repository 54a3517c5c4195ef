/* SPDX-License-Identifier: Apache-2.0
 *
 * The first operation of each thread, for which no ticket lay ready: it may have begun with a call of the runtime that no
 * driver call of the thread came before. Such a call has a record of its own, by thread, from before the operation to
 * after it, and nothing else that the thread does at the time is in it.
 */
#ifndef PTDS_CUPTI_FIRST_H
#define PTDS_CUPTI_FIRST_H

#include <stdint.h>

/* Whether the thread has still to tell of its operations, by the two below. */
int first_open(void);

/* The thread has an operation now, that CUPTI's times are wanted for; `work` is its kind. `thread`: CUPTI's name for it. */
void first_begins(uint32_t thread, uint64_t ticket, uint32_t work, uint64_t now);

/* An operation's call is back, its or another's. */
void first_ends(uint64_t now);

/* The ticket of the operation, and its kind, that this call of a thread's was made for; 0: of none, more than one, or of
 * nobody knows which. By any thread. */
uint64_t first_within(uint32_t thread, uint64_t start, uint64_t end, uint32_t *work);

#endif
