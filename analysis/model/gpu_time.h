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

/* For model_leave: notes until when the work of the call ran. For model_enter, of a call that loads code: fills in
 * blocked, lost_ns and at_most_ns. */
void gpu_time_note(struct model *model, const struct call_view *view);

void gpu_time_of_load(const struct model *model, struct call_view *view);

/* Until when all pending work of the slot runs, in ns of the trace, into *until; between enter and leave. False: not
 * known. */
bool gpu_time_until(const struct model *model, uint32_t slot, uint64_t *until);

#ifdef __cplusplus
}
#endif
#endif
