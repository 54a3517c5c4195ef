/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls lost to waiting, and what calls take that wait for nothing.
 */
#ifndef PTDS_ANALYSIS_MODEL_COST_H
#define PTDS_ANALYSIS_MODEL_COST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model;
struct call;
struct call_view;

/* For model_enter: fills in blocked and lost_ns, by ns and waits. */
void cost_of_call(struct model *model, struct call_view *view);

/* Before the first call: looks up the quick calls of the trace. */
void cost_begin(struct model *model);

/* The ns that such a call takes when nothing keeps it, by the quick calls of the whole trace and the bytes that it is
 * about. UINT64_MAX: not known. Not capped, unlike the baseline of `blocked`, so it may be the time of slow calls. */
uint64_t cost_usual_ns(const struct model *model, const struct call_view *view);

/* The ns that an allocation of this size may take on a slow machine, beyond those of a small one; 0 for other calls. */
uint64_t cost_alloc_ns(const struct call *call);

#ifdef __cplusplus
}
#endif
#endif
