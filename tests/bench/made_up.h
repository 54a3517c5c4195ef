/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces that are made up chunk by chunk while they are read, so that any length fits: for analysis.c. A workload lays out
 * one chunk a thread; times, generations and what else changes are filled in each time a chunk is asked for.
 */
#ifndef PTDS_TESTS_BENCH_MADE_UP_H
#define PTDS_TESTS_BENCH_MADE_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/trace_source.h"
#include "interpose/trace/format.h"

enum { THREADS_MOST = 128, STEP = 3000 /* ns between two calls of a thread */ };

struct workload {
    const char *name;
    uint32_t threads;
    void (*define)(void);                                            /* streams, kernels, allocations */
    void (*lay_out)(uint32_t thread);                                /* a chunk, through made_up_call; threads from 1 */
    uint64_t (*when)(uint32_t thread, uint64_t unit, uint32_t call); /* ns; unit: how often the chunk was laid before */
    void (*change)(uint32_t thread, uint64_t unit);                  /* other words that change; may be NULL */
};

extern const struct workload program_workload, worst_workload, crowd_workload;

enum made_up_api { LAUNCH_API = 1, COPY_API, COPY_BACK_API, RECORD_API, WAIT_API, SYNC_API, ALLOC_API };

void made_up_stream(uint32_t uid, uint32_t kind);
void made_up_kernel(uint32_t uid, const char *name, uint32_t pointers);
void made_up_memory(uint32_t uid, uint64_t address, uint64_t bytes);

/* Appends a call to the thread's chunk; thread 0: to the allocations. */
struct ptds_rec_CALL *made_up_call(uint32_t thread, enum made_up_api api, uint8_t op, uint32_t stream, uint32_t words);
/* A launch whose pointers are still to be set, with made_up_pointer. */
struct ptds_rec_CALL *made_up_launch(uint32_t thread, uint32_t stream, uint32_t kernel, uint32_t pointers);
uint64_t made_up_pointer(uint32_t index, uint64_t address);
/* A copy to the device from pinned memory; back: from the device, synchronous, to pageable memory. */
void made_up_copy(uint32_t thread, uint32_t stream, uint64_t device, uint64_t host, bool back);
void made_up_event(uint32_t thread, bool wait, uint32_t event, uint32_t stream);

/* One workload a process. The source lasts until the end. */
struct trace_source made_up_begin(const struct workload *workload, uint64_t records);
/* How many calls are in the chunk. */
uint32_t made_up_calls(uint64_t chunk);

#endif
