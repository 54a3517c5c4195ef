/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of this folder share: kernels of a given length that add one to words, and buffers of such words.
 */
#ifndef APPS_SPEED_H
#define APPS_SPEED_H

#include "tests/apps/app.h"

enum { SPEED_WORDS = 1024 };

struct speed {
    struct app app;
    CUfunction spin_add;
};

/* Everything loaded, and run once. */
void speed_start(struct speed *speed);

/* A buffer of zeros. */
CUdeviceptr speed_buffer(void);

/* One kernel of `ns` nanoseconds that adds one to each word of the buffer. */
void speed_launch(const struct speed *speed, CUstream stream, CUdeviceptr words, uint64_t ns);

/* 1 if each word of the buffer is `value`; adds the words to the digest. */
int speed_check(CUdeviceptr words, uint32_t value, uint64_t *digest);

#endif
