/* SPDX-License-Identifier: Apache-2.0
 *
 * Between hostblock.c and the files of its cases: a case is a call and what it needs before the gate is closed.
 */
#ifndef PTDS_TESTS_CONFORMANCE_HOSTBLOCK_H
#define PTDS_TESTS_CONFORMANCE_HOSTBLOCK_H

#include "tests/conformance/conf.h"

struct scene {
    CUdeviceptr device, device2;       /* 1 MiB each */
    char *pageable, *pinned, *pinned2; /* 1 MiB each */
    CUdeviceptr large, managed;        /* 64 MiB; 1 MiB */
    char *large_pageable;              /* 64 MiB */
    CUstream busy;                     /* where the gate is */
    CUstream other;                    /* made by the case */
    CUevent event;
    CUmodule module;
    CUarray array;
    CUdeviceptr made;
    void *host;
    CUgraph graph;
    CUgraphExec exec;
    size_t size;
};
extern struct scene scene;

struct block_case {
    const char *name;
    void (*prepare)(void);
    CUresult (*call)(void *);
    void (*clean_up)(void);
    size_t size;
};

/* Each ends with a NULL name. */
extern const struct block_case copy_cases[], host_cases[], memory_cases[], context_cases[], other_cases[];

/* For the frees: scene.size bytes of registered memory, and what lies in scene.array (hostblock_memory.c). */
void block_register_pages(void);
void block_release_pages(void);
extern const CUDA_ARRAY_DESCRIPTOR block_image;

#define MIB ((size_t)1 << 20)

#endif
