/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_SHAKE: work of a program starts late now and then, chosen by a seed. A program whose results depend on which of two
 * operations without an order comes first shows another result; a program without such a pair does not.
 */
#ifndef PTDS_SHAKE_H
#define PTDS_SHAKE_H

#include <stdint.h>

#include "interpose/api/cuda_abi.h"

/* 1: this process is shaken. Any thread, also inside dlsym. */
int shake_wanted(void);

/* 1: the row puts work on a stream, and is delayed where shake_wanted(). */
int shake_row(int id, int twin);

/* Puts itself between the shim and the driver's functions (driver_real). Once, before any of them is called by the shim. */
void shake_begin(void);

/* The driver's launch, without a delay. */
__typeof__(&cuLaunchKernel) shake_launch(void);

/* How long the delay before the n-th operation (from 0) of a thread is, in ns; mostly 0. The same for the same three
 * numbers. Of a thread's first 256 operations one in four is delayed, later ones by and by less: 64 more each time that the
 * number of operations grows by e. */
uint32_t shake_delay_ns(uint32_t seed, uint32_t thread, uint32_t n);

/* Keeps the stream busy for that long, before what comes next on it. Nothing happens where the stream is being captured, or
 * where the context takes no kernel of the shim's. Keeps errno. */
void shake_spin(CUstream stream, uint32_t ns);

#endif
