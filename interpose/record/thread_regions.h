/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of a thread, which nest, and ranges of the process, which may end in another thread. `domain` is NVTX's; NULL:
 * the default one, or ptds.h. All by the thread itself.
 */
#ifndef PTDS_THREAD_REGIONS_H
#define PTDS_THREAD_REGIONS_H

#include "interpose/state/thread.h"

/* 0: nothing is recorded, nor will be. */
int thread_regions_push(struct thread *thread, const char *name, const char *domain);
int thread_regions_pop(struct thread *thread, const char *domain);

/* Returns the range's number, for thread_regions_range_end. */
uint64_t thread_regions_range_start(struct thread *thread, const char *name, const char *domain);
void thread_regions_range_end(struct thread *thread, uint64_t range);

/* The thread's recording begins: writes the regions that it is in. */
void thread_regions_started(struct thread *thread);

#endif
