/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel touches, as JSON.
 */
#ifndef PTDS_ANALYSIS_KERNELS_KERNEL_JSON_H
#define PTDS_ANALYSIS_KERNELS_KERNEL_JSON_H

#include <jansson.h>

#include "analysis/kernels/kernel_use.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A new reference. */
json_t *kernel_json(const struct kernel_row *row);

#ifdef __cplusplus
}
#endif
#endif
