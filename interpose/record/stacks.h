/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks, deduplicated.
 */
#ifndef PTDS_STACKS_H
#define PTDS_STACKS_H

#include "interpose/state/call.h"

/* The id of the call's stack. The thread remembers stacks by the wrapper's return address, its place on the stack, and the
 * return addresses found above it; one that it remembers costs a few loads. Another is unwound if `worth` is set or the
 * call site still has some of its first uses left; else the id is that of the return address alone. */
uint32_t stacks_id(struct call *C, int worth);

/* The id that the thread remembers for the call's place; 0 if stacks_id has to find it, or to ask again. */
uint32_t stacks_known(const struct call *C);

void stacks_forget(struct thread *thread);

/* Lets the unwinder load what it needs, once, away from the hot path. */
void stacks_warm_up(void);

void stacks_after_fork(void);

#endif
