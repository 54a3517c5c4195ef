/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frames of a stack are the program, and which are CUDA or an interpreter.
 */
#ifndef PTDS_ANALYSIS_TRACE_FRAMES_H
#define PTDS_ANALYSIS_TRACE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The object whose mapping holds an address; of several, the one defined last. NULL if none. */
const struct object_def *frames_object_at(const struct definitions *defs, uint64_t pc);

/* Whether the object is the CUDA runtime as a library, or the driver. object may be NULL: no. */
bool frames_is_cuda(const struct object_def *object);

/* The index of the frame that called CUDA: the first one outside the objects of the CUDA runtime and driver. */
uint32_t frames_caller(const struct definitions *defs, const struct stack_def *stack);

/* The index of the frame that a call site is shown by: the innermost one in the source of an interpreter, else the
 * caller. */
uint32_t frames_shown(const struct stack_def *stack, uint32_t caller);

/* Which frame is the n-th one where no more than `most` are shown: half of them at the call, the others from the innermost
 * one in an interpreter's source on, if that is further up. Past the stack's count: no more. */
uint32_t frames_nth_shown(const struct stack_def *stack, uint32_t n, uint32_t most);

/* The object that the call site is in; NULL: no stack, or not recorded. stack: an id, 0 none. */
const struct object_def *frames_calling_object(const struct definitions *defs, uint32_t stack);

/* For definitions_finish: drops the frames of the shim from all stacks. */
void frames_leave_shim_out(struct definitions *defs);

#ifdef __cplusplus
}
#endif
#endif
