/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrappers that note when a process's CUDA work began and ended.
 */
#ifndef PTDS_WATCH_MOMENTS_H
#define PTDS_WATCH_MOMENTS_H

/* 1: the doors of the row get such a wrapper. Inside dlsym, too. */
int watch_moments_row(int id, int twin);

/* Puts these wrappers in, around what wrappers_go leads to. Once. */
void watch_moments_all(void);

#endif
