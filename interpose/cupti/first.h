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

/* An operation's call is back: the first operation's, or another one's. */
void first_ends(uint64_t now);

/* The ticket and the kind of the operation for which the thread made this call, which lasted from `start` to `end`; 0:
 * there is none, or more than one, or it is not known which. By any thread. */
uint64_t first_within(uint32_t thread, uint64_t start, uint64_t end, uint32_t *work);

#endif
