/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before all else in the programs NAME_twice: each kernel is launched twice at its place. What they compute is
 * wrong then; what they are for is tests/gate, where a check has to notice.
 */
#ifndef PTDS_TESTS_APPS_TWICE_H
#define PTDS_TESTS_APPS_TWICE_H

#include <cuda.h>

#define cuLaunchKernel(...) ((cuLaunchKernel)(__VA_ARGS__), (cuLaunchKernel)(__VA_ARGS__))

#endif
