/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_LANES=auto: feeds what decide/lanes_choice.c decides from, and carries it out.
 */
#ifndef PTDS_LANES_AUTO_H
#define PTDS_LANES_AUTO_H

#include "interpose/state/call.h"

/* The most lanes of one thread. */
enum { LANES_AUTO_MOST = 8 };

/* Default-stream work of the thread, before it has a lane: on how many lanes it may go. Takes the guard's lock. */
unsigned lanes_auto_spread(struct call *C, struct thread_context *here);

/* The host has waited, successfully: what it waited for may have been all that the thread had begun. Nothing where the
 * thread does not choose by itself. Takes the guard's lock; may make streams. */
void lanes_auto_waited(struct call *C);

/* The thread's state is for another thread from now on. */
void lanes_auto_thread_ends(struct thread *thread);

#endif
