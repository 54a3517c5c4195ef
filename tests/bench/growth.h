/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a long run needs more memory than a short one.
 */
#ifndef PTDS_TESTS_BENCH_GROWTH_H
#define PTDS_TESTS_BENCH_GROWTH_H

#include "tests/bench/lane.h"

/* VmRSS of this process. */
unsigned long resident_kb(void);

/* Does WHAT so many times and prints lines `name kB`; ends the program where there is no such thing. */
void growth(const struct setting *setting, const char *what, unsigned count);

#endif
