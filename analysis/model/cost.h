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

/* For model_enter: blocked, lost_ns, from ns and waits. */
void cost_of_call(struct model *model, struct call_view *view);

void cost_begin(struct model *model);

/* What such a call takes when nothing keeps it, going by the quick ones of the whole trace and the bytes it is about.
 * UINT64_MAX: not known. Unlike the baseline of `blocked` it is not capped, so it may itself be the time of slow calls. */
uint64_t cost_usual_ns(const struct model *model, const struct call_view *view);

/* What an allocation of this size may take on a slow machine, beyond a small one; 0 of other calls. */
uint64_t cost_alloc_ns(const struct call *call);

#ifdef __cplusplus
}
#endif
#endif
