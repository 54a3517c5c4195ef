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

/* For model_enter: fills in scope, completes, own_only, staged and by_shim of the view. */
void classify_call(struct call_view *view);

/* Whether memory of this kind (enum ptds_memory_kind) is of the host, and the driver needs the host to help or to
 * stage a copy. */
bool classify_is_host_memory(unsigned memory_kind);

#ifdef __cplusplus
}
#endif
#endif
