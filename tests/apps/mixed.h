/* SPDX-License-Identifier: Apache-2.0
 *
 * What the sections of mixed_streams share. A section puts work on one stream behind a gate, then
 * conflicting work on another, so that the bytes left behind tell who waited for whom.
 * mixed_streams.c resets everything before each section.
 */
#ifndef APPS_MIXED_H
#define APPS_MIXED_H

#include "app.h"

enum { WORDS = 1024, BYTES = WORDS * 4, GATES = 2, ARRAY_HEIGHT = 8, ARRAY_PITCH = BYTES / ARRAY_HEIGHT };

/* What each buffer holds in every word before a section begins. */
enum { START_A = 100, START_B = 200, START_PINNED = 300, START_HOST = 400, START_ARRAY = 500 };

/* The value of every word of each buffer afterwards, and one number more: a result code or what a
 * host function saw. */
struct values {
    int a, b, pinned, host, array, note;
};

struct mixed {
    struct app app;
    CUstream x, y; /* blocking */
    CUstream free; /* non-blocking */
    CUdeviceptr a, b;
    CUarray array; /* ARRAY_PITCH bytes wide, ARRAY_HEIGHT high */
    uint32_t *pinned, *host;
    CUdeviceptr pinned_address;
    CUevent event;
    CUgraphExec add_graph;  /* add_one(a) */
    CUgraphExec slow_graph; /* gate 0, then a = 5 */
    struct gate gates[GATES];
    int note;
};

struct section {
    const char *name;
    void (*run)(struct mixed *m);
    struct values legacy; /* what legacy order gives; 0 stands for the value at the start */
    int open;             /* not 0: no expectation, only to be equal in all runs that keep legacy order */
};

extern const struct section mixed_into[], mixed_from[], mixed_chain[]; /* each ends with a NULL name */

/* Gate, then a = 5, on the stream. */
void mixed_pending(struct mixed *m, CUstream stream);
/* add_one(a) */
void mixed_add(struct mixed *m, CUstream stream);
/* pinned = a by the non-blocking stream, complete on return. */
void mixed_snapshot(struct mixed *m);
/* A host function that notes pinned[0]; the argument is the struct mixed. */
void mixed_note_pinned(void *m);

void mixed_fill(uint32_t *words, uint32_t value);
CUDA_MEMCPY2D mixed_copy_2d(CUdeviceptr to, CUdeviceptr from);
CUDA_MEMCPY3D mixed_copy_3d(CUdeviceptr to, CUdeviceptr from);
/* Between the array and pageable memory. */
CUDA_MEMCPY2D mixed_copy_array(struct mixed *m, int to_array);

void mixed_setup(struct mixed *m, unsigned gate_ms);
void mixed_reset(struct mixed *m);

#endif
