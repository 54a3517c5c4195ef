/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of kernel launches. api.def's columns, before the call unless said otherwise; they do nothing unless
 * C->footprint is set.
 */
#ifndef PTDS_LAUNCHES_H
#define PTDS_LAUNCHES_H

#include "interpose/footprint/launches/show_driver.h"
#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/footprint/pointers/follow.h"
#include "interpose/state/call_words.h"
#include "interpose/state/capture.h"

/* The kernel of a launch, and what it touches with these arguments. named: the stream that the program named. */
void launches_arguments(struct call *C, CUfunction function, CUstream named, void **params, void **extra);

static inline void launches_kernel(struct call *C, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream named, void **params, void **extra)
{
    if (!C->footprint)
        return;
    uint64_t attributes = C->api == API_cuLaunchCooperativeKernel ? PTDS_LAUNCH_COOPERATIVE : 0;
    call_words_shape(C->word, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, attributes);
    call_words_set(C, PTDS_OP_LAUNCH, SHAPE_WORDS);
    launches_arguments(C, function, named, params, extra);
    show_driver(C);
}

/* The same of a launch with attributes. */
void launches_kernel_ex(struct call *C, const CUlaunchConfig *config, CUfunction function, void **params, void **extra);

/* Kernels whose parameters are not looked at. */
void launches_unseen(struct call *C);

/* After a launch with attributes: the events that it records are a capture's where its stream is. */
void launches_learn_events_slow(struct call *C, const CUlaunchConfig *config);
static inline void launches_learn_events(struct call *C, const CUlaunchConfig *config)
{
    if (capture_any() && config)
        launches_learn_events_slow(C, config);
}

/* Adds what a launch with these parameters touches; params or extra is NULL, as in cuLaunchKernel. Keeps the words of C
 * where it is recorded. 0: the parameters are not known, and the call is opaque. */
int launches_touch(struct call *C, const struct kernel *kernel, CUstream named, void *const *params, void *const *extra);

/* The same of a node of a graph, but for what is reached through memory: each launch of the graph has to follow that, by
 * `follows`, which is filled in. */
void launches_touch_node(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra,
                         struct follow_list *follows);

#endif
