/* SPDX-License-Identifier: Apache-2.0
 *
 * When work ran on the GPU, where the trace has such times.
 */
#ifndef PTDS_ANALYSIS_MODEL_GPU_TIME_H
#define PTDS_ANALYSIS_MODEL_GPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model;
struct call;
struct call_view;

/* gpu_time.c. Where the trace has times on the GPU: when work ran. Of a load: how long it waited. */
void gpu_time_note(struct model *model, const struct call_view *view);

void gpu_time_of_load(const struct model *model, struct call_view *view);

/* Between enter and leave, of a stream with work pending: when all of that has run, in ns of the trace; false: not known.
 */
bool gpu_time_until(const struct model *model, uint32_t slot, uint64_t *until);

#ifdef __cplusplus
}
#endif
#endif
