/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a kernel.
 */
#ifndef PTDS_KERNELS_H
#define PTDS_KERNELS_H

#include "interpose/footprint/footprint.h"
#include "interpose/footprint/modules.h"

struct kernel {
    uint64_t handle;
    uint32_t uid;
    uint32_t params;       /* UINT32_MAX: unknown */
    uint32_t *layout;      /* offset << 16 | size each */
    uint8_t *flags;        /* enum signature_flag each; 0 where the name does not tell */
    struct module *module; /* NULL unknown */
    uint32_t capacity;     /* of layout and flags */
    struct kernel *next_free;
};

/* Made on first sight; NULL inside a capture, if it was not seen before. */
const struct kernel *kernels_find(struct thread *thread, CUfunction function);

/* 1: a device can read memory that no call has told the driver of. */
extern uint32_t kernels_read_pageable;

/* 1: kernels may launch graphs, or change their nodes: nobody sees what those touch. */
extern uint32_t kernels_launch_graphs;
void kernels_may_launch_graphs(void);

/* Adds what a launch with these parameters touches; one of both may be NULL, as in cuLaunchKernel. Keeps the words of C,
 * too, where it is recorded. 0: the parameters are not known. */
int kernels_touch(struct call *C, const struct kernel *kernel, void *const *params, void *const *extra);

#endif
