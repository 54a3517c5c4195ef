/* SPDX-License-Identifier: Apache-2.0
 *
 * When a process's CUDA work began and ended, for `ptds probe`: two times in a file of its own, in the folder that
 * PTDS_MOMENTS names. Only of runs without a record. It costs a reading of the clock a call, so what is compared must have
 * it alike.
 */
#ifndef PTDS_MOMENTS_H
#define PTDS_MOMENTS_H

#include <stdint.h>

#define MOMENTS_VARIABLE "PTDS_MOMENTS"
#define MOMENTS_MAGIC UINT64_C(0x31746e656d6f6d70)
enum { MOMENTS_PLACES = 63 };

/* The file. CLOCK_MONOTONIC, ns. Threads write in places of their own, so that none waits for another one's cache line. */
struct moments {
    uint64_t magic;
    uint64_t first; /* the first launch, copy or memset was called; 0: there was none */
    uint64_t unused[6];
    struct {
        uint64_t last; /* a call returned */
        uint64_t unused[7];
    } place[MOMENTS_PLACES];
};

/* Whether they are asked for. Any thread, also inside dlsym. */
int moments_wanted(void);

/* A call of the program's begins work, or any watched call has returned. Keep errno. */
void moments_begin(void);
void moments_end(void);

#endif
