/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that have made CUDA calls, and live on.
 */
#ifndef PTDS_TESTS_BENCH_CROWD_H
#define PTDS_TESTS_BENCH_CROWD_H

#include "tests/bench/lane.h"

/* Returns when each of the n threads has made its first calls, in the setting's context. */
struct crowd *crowd_begin(const struct setting *setting, unsigned n, void (*first)(const struct setting *setting));
void crowd_end(struct crowd *crowd);

#endif
