/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cases of mended.def share. A case is a function that runs one of two programs with the same results: one as
 * people write it, and the same one mended.
 */
#ifndef APPS_MENDED_H
#define APPS_MENDED_H

#include "tests/apps/speed/speed.h"

enum { MENDED_KERNEL_NS = 500000, MENDED_HOST_NS = 300000, MENDED_BYTES = SPEED_WORDS * sizeof(uint32_t) };

struct mended {
    struct speed speed;
    int mended; /* which of the two */
    unsigned rounds;
    double began, ms;
    uint64_t digest;
    int right;
};

#define MENDED_CASE(name, claim) void mended_##name(struct mended *m);
#include "tests/apps/mended/mended.def"
#undef MENDED_CASE

/* The part whose time counts: all work is done before and after it. */
void mended_begin(struct mended *m);
void mended_end(struct mended *m);

/* A kernel of MENDED_KERNEL_NS that adds one to each word. */
void mended_kernel(const struct mended *m, CUstream stream, CUdeviceptr words);

/* What the program itself has to do, for MENDED_HOST_NS. */
void mended_host_works(void);

/* Each word of the buffer must be `value`; words already read. */
void mended_check(struct mended *m, CUdeviceptr words, uint32_t value);
void mended_check_words(struct mended *m, const uint32_t *words, uint32_t value);

/* Zeroed. */
uint32_t *mended_pinned(size_t bytes);

CUstream mended_stream(unsigned flags);
CUevent mended_event(void);

#endif
