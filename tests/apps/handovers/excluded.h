/* SPDX-License-Identifier: Apache-2.0
 *
 * libexcluded.so: calls on the default stream from an object of their own, for PTDS_EXCLUDE.
 */
#ifndef APPS_HANDOVERS_EXCLUDED_H
#define APPS_HANDOVERS_EXCLUDED_H

#include <cuda.h>

__attribute__((visibility("default"))) void excluded_copy(void *to, CUdeviceptr from, size_t bytes);

#endif
