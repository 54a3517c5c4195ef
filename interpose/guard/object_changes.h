/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's objects change. Called through state/hooks.h. Each function keeps errno.
 */
#ifndef PTDS_OBJECT_CHANGES_H
#define PTDS_OBJECT_CHANGES_H

#include "interpose/state/call.h"

/* A capture is about to take the stream in, or the stream is about to be destroyed: its work is marked, and the guard
 * records nothing on it any more. Waits with the host where no mark could be recorded. */
void object_changes_capture_takes(struct stream *stream);

/* The context has ended past the shim. */
void object_changes_context_ended(struct context *context);

/* The memory object is about to serve for another memory, which nobody has touched. */
void object_changes_memory_gone(struct memory *memory);

/* The thread ends, its work still pending. Calls no driver. */
void object_changes_thread_ends(struct thread *thread);

/* In a forked child: no driver, no other thread is left. */
void object_changes_after_fork(void);

#endif
