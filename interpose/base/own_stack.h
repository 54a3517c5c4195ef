/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the calling thread's own stack lies. What it runs on may be another one: a coroutine's, or that of its signals.
 */
#ifndef PTDS_OWN_STACK_H
#define PTDS_OWN_STACK_H

/* [*low, *high), all of it there for as long as the thread is. 0: not known, as of the process's first thread. Takes memory
 * for a moment, and keeps errno. */
int own_stack(const void **low, const void **high);

#endif
