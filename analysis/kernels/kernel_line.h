/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel touches, as one line of text.
 */
#ifndef PTDS_ANALYSIS_KERNELS_KERNEL_LINE_H
#define PTDS_ANALYSIS_KERNELS_KERNEL_LINE_H

#include "analysis/base/sink.h"
#include "analysis/kernels/kernel_use.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One line, with its newline. */
void kernel_line(struct text_sink *sink, const struct kernel_row *row);

#ifdef __cplusplus
}
#endif
#endif
