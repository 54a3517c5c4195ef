/* SPDX-License-Identifier: Apache-2.0
 *
 * The strands that have opaque operations which not every later call comes after: `opaque_strands`, rising.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_OPAQUE_STRANDS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_OPAQUE_STRANDS_H

#include "analysis/order/strands/milestones.h"

/* The call at hand, an operation of the strand, may touch all memory of these classes (not 0). */
void opaque_strands_add(struct verdicts *v, uint32_t strand, unsigned opaque);
/* Takes those off the list that have none such any more. */
void opaque_strands_drop_done(struct verdicts *v);
/* The strand, which is in the list, is about to be closed. */
void opaque_strands_close(struct verdicts *v, uint32_t strand);

#endif
