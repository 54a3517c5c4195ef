/* SPDX-License-Identifier: Apache-2.0
 *
 * Host waits: what each covers (struct cover), which the host knows from the wait's return on.
 */
#ifndef PTDS_ANALYSIS_ORDER_WAIT_COVERS_H
#define PTDS_ANALYSIS_ORDER_WAIT_COVERS_H

#include "analysis/order/engine/engine.h"

/* Fills `cover` with what the call has waited for when it returns; `strand`: of the stream that it names. False: the call
 * does not wait, and `cover` holds nothing. */
bool wait_covers_of(struct verdicts *v, const struct call_view *view, uint32_t strand, struct cover *cover);
/* The wait is in flight. Takes the cover over. */
void wait_covers_start(struct verdicts *v, struct cover *cover);
/* From now on the model tells of each wait that has returned. */
void wait_covers_follow(struct verdicts *v);
void wait_covers_free(struct verdicts *v);

#endif
