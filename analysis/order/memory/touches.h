/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory an operation touches, and how.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_TOUCHES_H
#define PTDS_ANALYSIS_ORDER_MEMORY_TOUCHES_H

#include "analysis/order/engine/engine.h"

/* The strand's operation, which is the call at hand: a launch, or any other work. */
void touches_of_launch(struct verdicts *v, const struct call *call, uint32_t strand);
void touches_of_call(struct verdicts *v, const struct call *call, uint32_t strand);
/* The host frees or unmaps memory in the call. `cover`: of the wait that comes before; NULL: the call does not wait. */
void touches_of_free(struct verdicts *v, const struct call_view *view, const struct cover *cover);

#endif
