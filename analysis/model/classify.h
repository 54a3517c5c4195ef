/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call waits for before it returns, by its driver function.
 */
#ifndef PTDS_ANALYSIS_MODEL_CLASSIFY_H
#define PTDS_ANALYSIS_MODEL_CLASSIFY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model;
struct call;
struct call_view;

/* For model_enter: scope, completes, own_only. */
void classify_call(struct call_view *view);

/* Host memory of some kind that the driver cannot reach without the host's help or staging. */
bool classify_is_host_memory(unsigned memory_kind);

#ifdef __cplusplus
}
#endif
#endif
