/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether what a call costs stays the same.
 */
#ifndef PTDS_TESTS_BENCH_FLAT_H
#define PTDS_TESTS_BENCH_FLAT_H

#include "tests/bench/lane.h"

/* Prints `first` and `last`, ns for one of WHAT (flat.c) at first and after so many. */
void flat(const struct setting *setting, const char *what, unsigned n);

#endif
