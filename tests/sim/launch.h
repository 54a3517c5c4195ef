/* SPDX-License-Identifier: Apache-2.0
 *
 * Between launch.c and graph_api.c.
 */
#ifndef PTDS_TESTS_SIM_LAUNCH_H
#define PTDS_TESTS_SIM_LAUNCH_H

#include "tests/sim/sim.h"

/* Locked. The checks of a launch, and its work with the parameters copied; shape->function is not read. */
CUresult launch_work(CUfunction f, const struct kernel_work *shape, void **parameters, void **extra, struct work *w);

#endif
