/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: what a strand knew when it recorded one, and the strands that wait for it.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_STRAND_EVENTS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_STRAND_EVENTS_H

#include "analysis/order/engine/engine.h"

/* The call, which was put on the strand, records its event. */
void strand_events_record(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t strand);
/* The event's recording; NULL: it is not known. */
const struct strand_event *strand_events_find(const struct verdicts *v, uint32_t uid, uint32_t generation);
/* Of a recording that is not found: whether there may be one, of another process or one that the trace lost. */
bool strand_events_are_unseen(const struct verdicts *v, uint32_t uid, uint32_t generation);
/* The strand's next operation comes after the recording. */
void strand_events_wait(struct verdicts *v, const struct strand_event *event, uint32_t strand);
/* The event is destroyed. */
void strand_events_forget(struct verdicts *v, uint32_t uid);
void strand_events_free(struct verdicts *v);

#endif
