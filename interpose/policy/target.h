/* SPDX-License-Identifier: Apache-2.0
 *
 * What ptds.h may set of policy stream.
 */
#ifndef PTDS_TARGET_H
#define PTDS_TARGET_H

#include "interpose/api/cuda_abi.h"

/* The stream that policy stream uses in the stream's own context, for every thread that has none of its own; NULL: the
 * shim's. The caller keeps it alive. */
void target_set_process(CUstream stream);

/* The same for this thread alone, the calling one. */
struct thread;
void target_set_thread(struct thread *thread, CUstream stream);

#endif
