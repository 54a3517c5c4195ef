/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams that a program has set for policy stream through ptds.h.
 */
#ifndef PTDS_TARGET_H
#define PTDS_TARGET_H

#include "interpose/api/cuda_abi.h"

struct thread;

/* The stream that policy stream uses in the stream's own context, for every thread that has set none of its own; NULL: the
 * shim's. The caller keeps it alive. Any thread. */
void target_set_process(CUstream stream);

/* The same for the calling thread alone. */
void target_set_thread(struct thread *thread, CUstream stream);

/* The stream that holds for the thread; NULL: the program has set none. */
CUstream target_of(const struct thread *thread);

/* The program is about to destroy the stream: no thread uses it any more. */
void target_forget(CUstream stream);

#endif
